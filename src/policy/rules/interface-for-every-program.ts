import { findingAt, nodesOf } from './clauses.ts'
import type { LintRule } from './rule.ts'

export const interfaceForEveryProgram: LintRule = {
  name: 'interface-for-every-program',
  severity: 'info',
  summary: 'decoded arguments are read of every instruction of a transaction',
  why: 'An instruction of a program without an uploaded interface has none, and reading them is an error. Nothing stops early, so one such instruction, like the setting of a compute budget, makes the policy an error.',
  solve: 'upload an interface for every program that such transactions may call',
  bad: `swap:
  effect: allow
  consensus: approvers.count() >= 2
  condition: >-
    solana.tx.instructions.any(i, i.program_key == 'a' && i.parsed_instruction_data.instruction_name == 'swap')`,
  good: `swap:
  effect: allow
  consensus: approvers.count() >= 2
  condition: >-
    solana.tx.instructions.count() > 0
    && solana.tx.instructions.all(i, i.program_key == 'a')`,
  check: (input) =>
    [...nodesOf(input)].flatMap((met) => {
      if (met.node.kind !== 'member' || met.node.name.text !== 'parsed_instruction_data') return []
      if (met.node.target.kind !== 'name' || !met.around.some(({ kind }) => kind === 'quantifier')) return []
      return [
        findingAt(met, 'an instruction of a program without an interface makes this an error', {
          help: 'upload an interface for every program that such transactions may call',
        }),
      ]
    }),
}
