import type { Codes } from '../diagnostics/index.ts'

export const codes = {
  'import/shared-name': {
    summary: 'two live things would stand under the same name',
    solve: 'rename one of the two in the organization, then import again',
  },
  'import/shared-text': {
    summary: 'what differs is written once for several things, through a YAML alias',
    solve: 'write the definition out where the alias stands, then import again',
  },
  'import/unwritable': {
    summary: 'what a definition stands for has become what no definition can say',
    solve: 'change it in the organization (a name without `${`, say), or take its definition out, then import again',
  },
  'import/not-the-same': {
    summary: 'the definitions do not come out as what is live',
    solve: 'correct what the message names by hand; nothing was written',
  },
} as const satisfies Codes
