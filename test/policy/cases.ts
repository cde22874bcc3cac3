import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { PolicyContext, PolicyText } from '../../src/policy/index.ts'

/** One case or variant of `policy-cases.yaml`, ready to run; the form is explained at the head of that file. */
export interface PolicyCase {
  readonly name: string
  readonly restsOn: readonly string[]
  readonly policies: readonly PolicyText[]
  readonly context: PolicyContext
  readonly expect: Expected
}

interface Expected {
  readonly outcome: 'allow' | 'deny' | 'pending' | 'error'
  readonly stage?: 'write' | 'evaluate' | 'any'
  readonly final?: string
  readonly policies?: Readonly<Record<string, string>>
}

type Yaml = Record<string, unknown>

interface YamlCase {
  readonly name: string
  readonly rests_on?: readonly string[]
  readonly policies: readonly Yaml[]
  readonly context: Yaml
  readonly expect: Expected
  readonly variants?: readonly {
    readonly rests_on?: readonly string[]
    readonly set?: Yaml
    readonly policy?: Yaml
    readonly expect: Expected
  }[]
}

/** Reads all cases, each followed by its variants. */
export function readPolicyCases(): readonly PolicyCase[] {
  const text = readFileSync(new URL('policy-cases.yaml', import.meta.url), 'utf8')
  const { cases } = parse(text) as { cases: readonly YamlCase[] }
  return cases.flatMap((each) => [
    toCase(each.name, each.rests_on, each.policies, each.context, each.expect),
    ...(each.variants ?? []).map((variant, index) => {
      const context = structuredClone(each.context)
      for (const [path, value] of Object.entries(variant.set ?? {})) setPath(context, path, value)
      const [first, ...others] = each.policies
      const policies = [{ ...first, ...variant.policy }, ...others]
      return toCase(`${each.name}, variant ${index + 1}`, variant.rests_on, policies, context, variant.expect)
    }),
  ])
}

function toCase(
  name: string,
  restsOn: readonly string[] = [],
  policies: readonly Yaml[],
  context: Yaml,
  expect: Expected,
): PolicyCase {
  const { now = '2026-01-01T00:00:00Z', root_quorum, target_user_id, ...roots } = context
  const quorum = root_quorum as { user_ids: readonly string[]; threshold: number } | undefined
  return {
    name,
    restsOn,
    policies: policies.map((policy) => ({ id: policy.name, ...policy }) as unknown as PolicyText),
    context: {
      ...(roots as unknown as PolicyContext),
      now: BigInt(Date.parse(String(now))) * 1_000_000n,
      ...(quorum === undefined ? {} : { rootQuorum: { userIds: quorum.user_ids, threshold: quorum.threshold } }),
      ...(target_user_id === undefined ? {} : { targetUserId: String(target_user_id) }),
    },
    expect,
  }
}

/** Sets a dotted path; numbers are positions of a list. */
function setPath(target: Yaml, path: string, value: unknown): void {
  const keys = path.split('.')
  let at = target
  for (const key of keys.slice(0, -1)) at = at[key] as Yaml
  at[keys.at(-1)!] = value
}
