import { createTable, type InOrder, storedList } from '../../store/index.ts'

/** What the keys of a login may do, in the policy language (docs/protocol/sessions.md#session-profiles). It never changes. */
export interface SessionProfileRow {
  id: string
  organization_id: string
  name: string
  scope: string
  expiration_seconds: number | null
  notes: string
  created_at: number
  updated_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    session_profiles: InOrder<SessionProfileRow>
  }
}

export const sessionProfileTable = createTable('session_profiles')
export const sessionProfileList = storedList('session_profiles', ['name', 'scope', 'notes'])
