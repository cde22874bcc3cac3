import type { CommandRow } from '../../command.ts'

/** The commands of `quorate policy`, in the order in which help lists them. */
export const policyCommands: readonly CommandRow[] = []
