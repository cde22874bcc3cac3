import { createTable, type InOrder, storedList } from '../../store/index.ts'

export interface Oauth2CredentialRow {
  id: string
  organization_id: string
  provider: string
  client_id: string
  /** As it was sent: sealed to the service's key by the client. */
  encrypted_client_secret: string
  created_at: number
  updated_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    oauth2_credentials: InOrder<Oauth2CredentialRow>
  }
}

export const oauth2CredentialTable = createTable('oauth2_credentials')
export const oauth2CredentialList = storedList('oauth2_credentials', ['client_id', 'encrypted_client_secret'])
