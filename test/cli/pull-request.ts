/** A repository of 22 users, 30 policies, 10 wallets and 2 webhooks, merged once, against a real service and a real Temporal server. */
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { type Between, startBetween } from '../faults/between.ts'
import { quorateShared, writeFiles } from './harness.ts'
import { scene } from './scene.ts'

const range = (count: number) => Array.from({ length: count }, (_, index) => index)
export const keys = range(22).map(() => generateP256KeyPair())

/** What a pull request changes in it. */
export interface Repository {
  readonly tags?: readonly string[]
  readonly guests?: readonly string[]
  /** Who signs by a policy, by its number, where it is not `u1`. */
  readonly signers?: Readonly<Record<number, string>>
  readonly reversed?: boolean
}

function repository(rootKey: string, { tags = TAGS, guests = [], signers = {}, reversed = false }: Repository) {
  const order = <T>(list: readonly T[]) => (reversed ? [...list].reverse() : list)
  const section = (name: string, lines: readonly string[]) =>
    `${name}:\n${order(lines)
      .map((line) => `  ${line}\n`)
      .join('')}`
  const people = range(21).map((n) => {
    const apiKeys = `{ laptop: { curve: P256, publicKey: ${keys[n]!.publicKey} } }`
    return `u${n + 1}: { email: u${n + 1}@acme.test, tags: [t0], apiKeys: ${apiKeys} }`
  })
  const policies = range(30).map((n) => {
    const who = `approvers.any(user, user.id == '\${user.${signers[n] ?? 'u1'}}')`
    const what = `activity.kind == 'SIGN_TRANSACTION' && wallet.id == '\${wallet.w${n % 10}}' && eth.tx.value < ${n + 1}`
    return `p${n}: { effect: allow, consensus: ${JSON.stringify(who)}, condition: ${JSON.stringify(what)} }`
  })
  const texts: Readonly<Record<string, string>> = {
    'organization.yaml': `organization: acme
id: \${env.ACME_ORGANIZATION_ID}
manage: { tags: all }
rootQuorum: { threshold: 1, users: [root] }
features: { EMAIL_AUTH: true }
${section(
  'tags',
  tags.map((name) => `${name}: {}`),
)}`,
    'people.yaml': section('users', [
      `root: { apiKeys: { root: { curve: P256, publicKey: ${rootKey} } } }`,
      ...people,
      ...guests.map((name) => `${name}: { email: ${name}@acme.test }`),
    ]),
    'policies.yaml': section('policies', policies),
    'rest.yaml': `${section(
      'wallets',
      range(10).map((n) => `w${n}: {}`),
    )}
${section(
  'webhooks',
  range(2).map((n) => `hook${n}: { url: "https://8.8.8.8/in/${n}", subscriptions: [ACTIVITY_UPDATES] }`),
)}`,
  }
  return texts
}
export const TAGS = ['t0', 't1', 't2', 't3', 't4']

/** The organization as its definitions say, and what stands between it and everybody. */
export async function merged() {
  let between: Between | undefined
  const made = await scene({
    at: async ({ url }) => {
      between = await startBetween(url)
      return between.url
    },
  })
  onTestFinished(() => between!.close())
  const { service, folder, env } = made
  const write = (change: Repository) => writeFiles(join(folder, 'defs'), repository(service.root.publicKey, change))
  const defs = write({})
  const first = await quorateShared(['apply', defs, '--yes'], { env })
  expect(first.exit, first.stderr).toBe(0)
  const submits = () => between!.passed.filter((one) => one.submits)
  return { ...made, defs, write, between: between!, submits }
}

/** Three changes: a tag goes, a user comes, another person signs. */
export const pullRequest: Repository = { tags: TAGS.slice(0, 4), guests: ['newcomer'], signers: { 3: 'u2' } }
