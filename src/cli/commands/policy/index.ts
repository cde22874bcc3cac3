import type { CommandRow } from '../../command.ts'

/** The commands of `quorate policy`, in the order in which help lists them. */
export const policyCommands: readonly CommandRow[] = [
  {
    name: 'policy eval',
    summary: 'decide one request, or run a file of cases of the policy language',
    options: [{ flags: '--cases <file>', meaning: 'run the cases of this file: a JSON line each, then the count' }],
    example: 'quorate policy eval --cases test/policy/policy-cases.yaml',
    load: async () => (await import('./eval.ts')).evaluate,
  },
]
