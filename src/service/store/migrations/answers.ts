import type { Migration } from './migration.ts'

/** What the world outside answered when an activity was submitted. Of one that was submitted before nothing is known. */
export const answers: Migration = {
  name: '0018-answers',
  statements: ['alter table activities add column answers text'],
}
