/** Slips that the language lets pass, one rule each. */
import { suggest } from '../../diagnostics/index.ts'
import { activities, activityActions, activityKinds, activityResources, activityRow } from '../../protocol/catalogue.ts'
import { findingAt, nodesOf, rootOf, textComparison } from './clauses.ts'
import type { Finding, Rule } from './rule.ts'

const words: Readonly<Record<string, readonly string[]>> = {
  type: Object.keys(activities),
  kind: activityKinds,
  resource: activityResources,
  action: activityActions,
}

export const unknownActivity: Rule = {
  name: 'unknown-activity',
  severity: 'error',
  summary: 'the activity is compared with a word that no activity has',
  why: 'The comparison is false for every request. An ALLOW allows nothing; a DENY denies nothing.',
  solve: 'write a word of the activity table',
  bad: `export:
  effect: deny
  condition: activity.kind == 'EXPORT_WALLETS'`,
  good: `export:
  effect: deny
  condition: activity.kind == 'EXPORT_WALLET'`,
  check: (input) =>
    [...nodesOf(input)].flatMap((met) => {
      const comparison = textComparison(met.node)
      if (comparison?.value.kind !== 'member' || comparison.value.target.kind !== 'name') return []
      const { target, name } = comparison.value
      if (target.kind !== 'name' || target.name !== 'activity' || !Object.hasOwn(words, name.text)) return []
      const known = words[name.text]!
      const isKnown = (word: string) =>
        known.includes(word) ||
        (name.text === 'type' ? activityRow(word) : activityRow(`ACTIVITY_TYPE_${word}`)) !== undefined
      return comparison.texts
        .filter(({ value }) => !isKnown(value))
        .map((node) => {
          const near = suggest(node.value, known, 3).map((word) => `\`${word}\``)
          return findingAt({ ...met, node }, `no activity has the ${name.text} \`${node.value}\``, {
            ...(near.length === 0 ? {} : { help: `did you mean ${near.join(' or ')}?` }),
          })
        })
    }),
}

export const sliceLength: Rule = {
  name: 'slice-length',
  severity: 'error',
  summary: 'a slice is compared with a text of another length',
  why: 'Positions count characters, and `0x` counts: a selector is `[0..10]`, not `[0..4]`. A text of another length never equals the slice.',
  solve: 'count the characters, `0x` included',
  bad: `approve:
  effect: deny
  condition: eth.tx.data[0..4] == '0x095ea7b3'`,
  good: `approve:
  effect: deny
  condition: eth.tx.data[0..10] == '0x095ea7b3'`,
  check: (input) =>
    [...nodesOf(input)].flatMap((met) => {
      const comparison = textComparison(met.node)
      if (comparison?.value.kind !== 'slice') return []
      const { from, to } = comparison.value
      if (from.kind !== 'int' || to.kind !== 'int') return []
      const length = to.value - from.value
      return comparison.texts
        .filter(({ value }) => BigInt([...value].length) > length)
        .map((node) =>
          findingAt(
            { ...met, node },
            `this has ${[...node.value].length} characters, and the slice at most ${length}`,
            {
              help:
                from.value === 0n ? `write \`[0..${[...node.value].length}]\`` : 'count the characters, `0x` included',
            },
          ),
        )
    }),
}

export const listInTypedData: Rule = {
  name: 'list-in-typed-data',
  severity: 'error',
  summary: 'a text of a typed-data message is looked for in a list',
  why: 'The documentation says that `in` takes only whole numbers there, and asks for `||` with texts.',
  solve: 'join comparisons with `||`',
  bad: `permit:
  effect: deny
  condition: eth.eip_712.message['spender'] in ['0xaa', '0xbb']`,
  good: `permit:
  effect: deny
  condition: eth.eip_712.message['spender'] == '0xaa' || eth.eip_712.message['spender'] == '0xbb'`,
  fixable: true,
  check: (input) =>
    [...nodesOf(input)].flatMap((met) => {
      const comparison = textComparison(met.node)
      const isList = met.node.kind === 'method' || (met.node.kind === 'compare' && met.node.operator === 'in')
      if (comparison === undefined || !isList) return []
      const type = met.expression.types.get(comparison.value)
      if (type?.kind !== 'dynamic' || type.origin !== 'eip-712') return []
      const value = met.expression.text.slice(comparison.value.start, comparison.value.end)
      const text = comparison.texts.map((one) => `${value} == '${one.value}'`).join(' || ')
      const { start, end } = met.node
      return [
        findingAt(met, '`in` takes no texts of a typed-data message', {
          help: `write \`${text}\``,
          fix: { start, end, text: `(${text})` },
        }),
      ]
    }),
}

export const negatedFunctionName: Rule = {
  name: 'negated-function-name',
  severity: 'warning',
  summary: 'an ALLOW excludes a contract function by its name',
  why: 'Without an uploaded interface, and for a selector that the interface does not have, the name is empty: it differs from every name, and the call is allowed.',
  solve: 'name the functions that are allowed',
  bad: `calls:
  effect: allow
  consensus: approvers.count() >= 2
  condition: eth.tx.function_name != 'approve'`,
  good: `calls:
  effect: allow
  consensus: approvers.count() >= 2
  condition: eth.tx.function_name in ['transfer', 'deposit']`,
  check: (input) =>
    [...nodesOf(input)].flatMap((met) => {
      if (met.policy.effect !== 'allow') return []
      const comparison = textComparison(met.node)
      if (comparison?.value.kind !== 'member') return []
      const { text } = comparison.value.name
      const isName = (text === 'function_name' || text === 'function_signature') && rootOf(comparison.value) === 'eth'
      const isNegated = met.around.filter(({ kind }) => kind === 'not').length % 2 === (comparison.equal ? 1 : 0)
      if (!isName || !isNegated || comparison.texts.some(({ value }) => value === '')) return []
      return [
        findingAt(met, `\`${text}\` is empty without an interface, and differs from every name then`, {
          help: 'name the functions that are allowed',
        }),
      ]
    }),
}

export const quotedNumber: Rule = {
  name: 'quoted-number',
  severity: 'warning',
  summary: 'a number is compared with a text',
  why: 'The documentation compares the numbers of an EIP-7702 authorization with texts, and types them as numbers. A number in quotes relies on one reading of the two; a number does not.',
  solve: 'remove the quotes',
  bad: `delegate:
  effect: deny
  condition: eth.eip_7702_authorization.chain_id == '0'`,
  good: `delegate:
  effect: deny
  condition: eth.eip_7702_authorization.chain_id == 0`,
  fixable: true,
  check(input) {
    const findings: Finding[] = []
    for (const met of nodesOf(input)) {
      const comparison = textComparison(met.node)
      if (comparison === undefined || met.expression.types.get(comparison.value)?.kind !== 'number') continue
      for (const node of comparison.texts) {
        if (!/^(?:0|-?[1-9]\d*)$/.test(node.value)) continue
        const isAlone = met.node.kind === 'compare' && met.node.operator !== 'in'
        findings.push(
          findingAt({ ...met, node }, `\`'${node.value}'\` is a text, and this is compared with a number`, {
            help: `write \`${node.value}\``,
            // In a list the others would have to become numbers with it.
            ...(isAlone ? { fix: { start: node.start, end: node.end, text: node.value } } : {}),
          }),
        )
      }
    }
    return findings
  },
}

export const interfaceForEveryProgram: Rule = {
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
