/** What comparing the policies of definitions with and without each says of them, for the linter. */
import { type UselessPolicy, uselessPolicies } from '../analysis/index.ts'
import type { ComparedFinding, LoadedDefinitions } from '../definitions/index.ts'
import { DEFAULT_TIME, type World, worldOfDefinitions, writeScenario } from '../scenarios/index.ts'
import { policySetOf } from './policy-set.ts'
import { flow } from './views/compared.ts'

/** Findings about policies that are of no use. Where no users are defined, who could vote is not known, and nothing is said. */
export function comparedFindings(loaded: LoadedDefinitions): readonly ComparedFinding[] {
  const world = worldOfDefinitions(loaded)
  if (!world || Object.keys(world.users).length === 0) return []
  return uselessPolicies(policySetOf(world), { nowMs: Date.parse(DEFAULT_TIME) }).map((one) => findingOf(one, world))
}

function findingOf({ policy, why, because, unknown = [], example }: UselessPolicy, world: World): ComparedFinding {
  const effectOf = (name: string) => world.policies.find((one) => one.name === name)?.effect
  const isDeny = effectOf(policy) === 'EFFECT_DENY'
  const verb = isDeny ? 'deny' : 'allow'
  const at = { policy }
  switch (why) {
    case 'condition':
      return {
        rule: isDeny ? 'deny-never-applies' : 'allow-never-applies',
        at,
        message: `\`${policy}\` never applies: no request meets its condition at any time`,
        help: 'correct its condition or time, or remove it',
      }
    case 'consensus':
      return {
        rule: 'unreachable-threshold',
        at: { policy, field: 'consensus' },
        message: 'no votes of the users that are defined meet this, in any order',
        help: 'ask for what they can give, or remove the policy',
      }
    case 'denied':
      return {
        rule: 'shadowed-by-deny',
        at,
        message: `\`${policy}\` allows nothing that ${listOf(because)} ${doesNot(because)} deny`,
        related: because.map((name) => ({ policy: name, message: 'this denies it' })),
        help: `narrow the DENY, or remove the ALLOW${exampleText(example, 'allow', world)}`,
      }
    case 'covered': {
      const isAlike = because.every((name) => effectOf(name) === effectOf(policy))
      return {
        rule: 'redundant-policy',
        at,
        message: `\`${policy}\` ${isDeny ? 'denies' : 'allows'} nothing that ${listOf(because)} ${doesNot(because)} ${isAlike ? verb : 'decide'}`,
        related: because.map((name) => ({ policy: name, message: 'this decides it' })),
        help: `remove it, or narrow the others${exampleText(example, verb, world)}`,
      }
    }
    case 'unknown':
      return {
        rule: 'use-unknown',
        at,
        message: `it is not known whether \`${policy}\` is of use, because ${unknown.join(', and ')}`,
      }
    default:
      return why satisfies never
  }
}

function listOf(names: readonly string[]): string {
  return new Intl.ListFormat('en').format(names.map((name) => `\`${name}\``))
}

function doesNot({ length }: readonly string[]): string {
  return length === 1 ? 'does not' : 'do not'
}

/** A request that the policy would decide if it were alone, in the keys of a scenario. */
function exampleText(example: UselessPolicy['example'], verb: string, world: World): string {
  if (example === undefined) return ''
  const votes = example.votes.map(({ user, credential }) => ({ user, credentialId: credential?.id }))
  return `; alone it would ${verb}, for one, ${flow(writeScenario(world, { context: example.context, votes }).keys)}`
}
