import type { Codes } from '../diagnostics/index.ts'

export const codes = {
  'import/shared-name': {
    summary: 'two live things would stand under the same name',
    solve: 'rename one of the two in the organization, then import again',
  },
  'import/shared-text': {
    summary: 'a value that differs is shared by several definitions, through a YAML alias',
    solve: 'write the definition out where the alias stands, then import again',
  },
  'import/unwritable': {
    summary: 'a defined resource has a live value that no definition can have',
    solve: 'change it in the organization (a name without `${`, say), or take its definition out, then import again',
  },
  'import/not-the-same': {
    summary: 'the definitions that import would write do not give the live state',
    solve: 'correct what the message names by hand; nothing was written',
  },
} as const satisfies Codes
