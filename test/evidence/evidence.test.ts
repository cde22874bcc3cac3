/** What decided an activity, checked again without the service; and every part of it tampered with. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { type SignedEvidence, textOf, verifyEvidence } from '../../src/evidence/index.ts'
import type { Wire } from '../../src/protocol/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { environmentOf, quorateShared, testFolder } from '../cli/harness.ts'
import { mutated } from '../mutated.ts'
import { createTestUser, startTestService, type TestService } from '../service/harness.ts'
import { createPasskey } from '../service/passkey.ts'
import { ETHEREUM, makeWallet } from '../service/signing/keys.ts'

let service: TestService
let env: Readonly<Record<string, string>>
/** Signed by alice and, with a passkey, by bob. */
let signature: Wire.Activity
let rejected: Wire.Activity
const atEnd: (() => Promise<void>)[] = []

beforeAll(async () => {
  service = await startTestService()
  const { root } = service
  const alice = await createTestUser(service, 'alice')
  const bob = await createTestUser(service, 'bob')
  const passkey = createPasskey()
  const authenticators = [passkey.register()]
  await root.submit('ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2', { userId: bob.userId, authenticators })
  const { accounts } = await makeWallet(root, ETHEREUM)
  await root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', {
    policyName: 'two sign',
    effect: 'EFFECT_ALLOW',
    consensus: `approvers.any(u, u.id == '${alice.userId}') && approvers.any(u, u.id == '${bob.userId}')`,
    condition: `activity.action == 'SIGN' && wallet_account.address == '${accounts[0]!.address}'`,
    notes: '',
  })
  const ask = (digit: string) =>
    alice.client.submit('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', {
      signWith: accounts[0]!.address,
      payload: digit.repeat(64),
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    })
  const first = await ask('1')
  const { path, text } = service.body('ACTIVITY_TYPE_APPROVE_ACTIVITY', { fingerprint: first.fingerprint })
  const answer = await root.raw(path, text, { 'x-stamp': '', 'x-stamp-webauthn': passkey.stamp(text) })
  signature = answer.body['activity'] as never
  expect(signature.status, answer.text).toBe('ACTIVITY_STATUS_COMPLETED')
  rejected = await bob.client.reject((await ask('2')).fingerprint)
  env = environmentOf(
    service,
    testFolder((end) => atEnd.push(end)),
    root.privateKey,
  )
})
afterAll(async () => {
  await service.close()
  for (const end of atEnd) await end()
})

async function collect(id: string): Promise<SignedEvidence> {
  const { exit, stdout, stderr } = await quorateShared(['evidence', id], { env })
  expect(exit, stderr).toBe(0)
  return JSON.parse(stdout)
}

const verdicts = (signed: SignedEvidence) => verifyEvidence(signed).checks.map(({ what, verdict }) => [what, verdict])
const isBroken = (signed: SignedEvidence) => verifyEvidence(signed).checks.some(({ verdict }) => verdict === 'broken')
const holds = (signed: SignedEvidence) => verifyEvidence(signed).checks.every(({ verdict }) => verdict === 'holds')

test('evidence: submission, approval by a passkey and the decision hold; of a rejection too; it says whose key signed it', async () => {
  const signed = await collect(signature.id)
  expect(verdicts(signed)).toEqual([
    ['bundle', 'holds'],
    ['request', 'holds'],
    ['submission by alice', 'holds'],
    ['key of alice', 'holds'],
    ['approval by bob', 'holds'],
    ['key of bob', 'holds'],
    ['decision', 'holds'],
  ])
  expect(verifyEvidence(signed).collector).toBe(service.root.publicKey)
  const ended = await collect(rejected.id)
  expect(verdicts(ended)).toContainEqual(['rejection by bob', 'holds'])
  expect(verifyEvidence(ended).checks.at(-1)!.said).toMatch(
    /^rejected, which ended it; until then waiting for approvals by /,
  )
  expect(JSON.stringify(signed)).not.toContain(signature.result.signRawPayloadResult!.r)
})

test('evidence: what creates users and policies is decided by the state without them; a later change makes the decision unknown', async () => {
  const { activities } = await service.root.query('list_activities', { paginationOptions: { limit: '100' } })
  const users = activities.filter(({ type }) => type === 'ACTIVITY_TYPE_CREATE_USERS_V3')
  const made = await collect(activities.find(({ type }) => type === 'ACTIVITY_TYPE_CREATE_POLICY_V3')!.id)
  expect(verdicts(made).at(-1)).toEqual(['decision', 'holds'])
  expect(made.evidence.state.map(({ kind }) => kind)).not.toContain('policy')
  const { checks } = verifyEvidence(await collect(users[0]!.id))
  expect(checks.at(-1)).toMatchObject({ what: 'decision', verdict: 'unknown' })
  expect(checks.at(-1)!.said).toMatch(
    /^who and what decides was changed afterwards, by ACTIVITY_TYPE_\w+ \S+(?: and \d+ more)?; .*decides it alike$/,
  )
})

test('evidence: an endpoint for webhooks that was made afterwards leaves the decision as it was', async () => {
  const endpoint = { name: 'later', url: 'https://93.184.216.34/in', subscriptions: [] }
  await service.root.submit('ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', endpoint)
  expect(verdicts(await collect(signature.id)).at(-1)).toEqual(['decision', 'holds'])
})

/** Every leaf of a value: its path, and something else of the same sort. */
function leaves(
  value: unknown,
  path: readonly (string | number)[] = [],
): readonly (readonly [readonly (string | number)[], unknown])[] {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, one]) =>
      leaves(one, [...path, Array.isArray(value) ? Number(key) : key]),
    )
  if (typeof value === 'string')
    return [[path, value === '' ? 'x' : `${value.slice(0, -1)}${value.at(-1) === '0' ? '1' : '0'}`]]
  return [[path, typeof value === 'number' ? value + 1 : typeof value === 'boolean' ? !value : 'x']]
}

function withLeaf<T>(value: T, path: readonly (string | number)[], leaf: unknown): T {
  const copy = structuredClone(value)
  const place: unknown = path.slice(0, -1).reduce((one, key) => one[key as never], copy as never)
  ;(place as Record<string | number, unknown>)[path.at(-1)!] = leaf
  return copy
}

describe('evidence that was tampered with', () => {
  test('each of its values, changed: broken, whatever it is', async () => {
    const signed = await collect(signature.id)
    expect(holds(signed)).toBe(true)
    const all = leaves(signed)
    expect(all.length).toBeGreaterThan(100)
    for (const [path, leaf] of all) expect([path, isBroken(withLeaf(signed, path, leaf))]).toEqual([path, true])
    // Every character of the stamp, also those at its end that can be others and mean the same bytes.
    for (let at = 0; at < signed.signature.length; at++)
      for (const other of ['A', 'B', 'E', 'Q', '0', '1', '-']) {
        const signature = `${signed.signature.slice(0, at)}${other}${signed.signature.slice(at + 1)}`
        if (signature !== signed.signature)
          expect([at, other, isBroken({ ...signed, signature })]).toEqual([at, other, true])
      }
  })

  test('and signed anew by whoever changed it: the activity and its votes are broken or unknown all the same', async () => {
    const signed = await collect(signature.id)
    const stranger = generateP256KeyPair()
    const stamper = createApiKeyStamper({ privateKey: new Secret(stranger.privateKey) })
    const again = async (evidence: SignedEvidence['evidence']) => ({
      evidence,
      signature: (await stamper.stamp(textOf(evidence))).value,
    })
    expect(holds(await again(signed.evidence))).toBe(true)
    expect(verifyEvidence(await again(signed.evidence), { collector: service.root.publicKey }).checks[0]).toMatchObject(
      {
        what: 'bundle',
        verdict: 'broken',
      },
    )
    // When and under which ids it was recorded nobody has signed.
    const free = /^(createdAt|updatedAt|failure|votes\.\d+\.(id|createdAt))\b/
    for (const [path, leaf] of leaves(signed.evidence.activity)) {
      if (free.test(path.join('.')) || path[0] === 'id') continue
      const evidence = { ...signed.evidence, activity: withLeaf(signed.evidence.activity, path, leaf) }
      expect([path, holds(await again(evidence))]).toEqual([path, false])
    }
    // Policies that would not have let it through.
    const state = signed.evidence.state.map((one) =>
      one.kind === 'policy' ? { ...one, fields: { ...one.fields, consensus: 'approvers.count() >= 3' } } : one,
    )
    expect(isBroken(await again({ ...signed.evidence, state }))).toBe(true)
  })

  test('what is no evidence is said to be none', async () => {
    const file = join(testFolder(), 'a.json')
    for (const [text, why] of [
      ['{', 'it is not JSON'],
      ['{}', 'expected the format quorate.evidence/1'],
      ['{"evidence":{"format":"quorate.evidence/1"}}', 'it has no signature'],
    ] as const) {
      writeFileSync(file, text)
      const { exit, stderr } = await quorateShared(['evidence', 'verify', file])
      expect([exit, stderr]).toEqual([1, expect.stringContaining(why)])
    }
    writeFileSync(file, '{"evidence":{"format":"quorate.evidence/1"},"signature":"x"}')
    const { exit, stdout } = await quorateShared(['evidence', 'verify', file])
    expect([exit, stdout]).toEqual([1, expect.stringContaining('This evidence is broken (exit code 1)')])
  })
})

describe('mistakes in checking evidence', () => {
  type Evidence = SignedEvidence['evidence']
  type Vote = Evidence['activity']['votes'][number]
  const stranger = createApiKeyStamper({ privateKey: new Secret(generateP256KeyPair().privateKey) })
  const signedAnew = async (evidence: Evidence) => ({
    evidence,
    signature: (await stranger.stamp(textOf(evidence))).value,
  })
  /** What is changed before it is signed anew, and of which checks that is seen: all others hold. */
  let cases: readonly (readonly [SignedEvidence, Readonly<Record<string, string>>, collector?: string])[]
  beforeAll(async () => {
    const { evidence } = await collect(signature.id)
    const [other] = (await collect(rejected.id)).evidence.activity.votes.filter(
      ({ selection }) => selection === 'VOTE_SELECTION_REJECTED',
    )
    const bob = evidence.state.find(({ kind, name }) => kind === 'user' && name === 'bob')!
    const isKeyOfAlice = ({ kind, parent }: Evidence['state'][number]) => kind === 'apiKey' && parent === 'user.alice'
    expect(evidence.state.filter(isKeyOfAlice)).toHaveLength(1)
    const stateWith = (change: (one: Evidence['state'][number]) => Evidence['state'], more: Partial<Evidence> = {}) =>
      signedAnew({ ...evidence, state: evidence.state.flatMap(change), ...more })
    const votesWith = (change: (vote: Vote) => Vote) => {
      const votes = evidence.activity.votes.map((vote) => (vote.user.userName === 'bob' ? change(vote) : vote))
      return signedAnew({ ...evidence, activity: { ...evidence.activity, votes } })
    }
    const [submission] = evidence.activity.votes.filter((vote) => vote.user.userName === 'alice')
    const intent = { signRawPayloadIntentV2: {} } as unknown as Evidence['activity']['intent']
    const { publicKey } = service.root
    cases = [
      [await signedAnew(evidence), {}],
      [await signedAnew(evidence), { bundle: 'broken' }, publicKey],
      [{ evidence, signature: (await signedAnew({ ...evidence, isCut: true })).signature }, { bundle: 'broken' }],
      [await stateWith((one) => (isKeyOfAlice(one) ? [] : [one])), { 'key of alice': 'unknown' }],
      [
        await stateWith((one) => [isKeyOfAlice(one) ? { ...one, parentId: bob.id!, parent: bob.address } : one]),
        { 'key of alice': 'broken' },
      ],
      [await stateWith((one) => [one.id === bob.id ? { ...one, name: 'robert' } : one]), { 'key of bob': 'broken' }],
      [await stateWith((one) => [one.kind === 'policy' ? { ...one, name: 'three sign' } : one]), {}],
      // Where the service names no policy, too.
      [
        await stateWith(
          (one) => [
            one.kind === 'policy' ? { ...one, fields: { ...one.fields, consensus: 'approvers.count() >= 3' } } : one,
          ],
          { evaluations: [] },
        ),
        { decision: 'broken' },
      ],
      [
        await signedAnew({
          ...evidence,
          evaluations: evidence.evaluations.map((one) => ({
            ...one,
            policyEvaluations: one.policyEvaluations.map((each) => ({ ...each, policyId: 'another' })),
          })),
        }),
        { decision: 'broken' },
      ],
      [
        await signedAnew({ ...evidence, changedSince: [{ id: 'x', type: 'ACTIVITY_TYPE_CREATE_USERS_V3' }] as never }),
        { decision: 'unknown' },
      ],
      [await votesWith((vote) => ({ ...vote, signature: other!.signature })), { 'approval by bob': 'broken' }],
      [
        await votesWith((vote) => ({
          ...vote,
          signature: other!.signature,
          message: other!.message,
          publicKey: other!.publicKey,
          scheme: other!.scheme,
        })),
        { 'approval by bob': 'broken' },
      ],
      [
        await votesWith((vote) => ({ ...other!, id: vote.id, activityId: vote.activityId, createdAt: vote.createdAt })),
        { 'rejection by bob': 'broken' },
      ],
      [await votesWith((vote) => ({ ...vote, activityId: submission!.id })), { 'approval by bob': 'broken' }],
      [await signedAnew({ ...evidence, activity: { ...evidence.activity, intent } }), { request: 'broken' }],
    ]
  })
  /** Of what is seen of each case, whether it is what is written beside it; other checks of a broken part may fall away. */
  const isRight = (verify: typeof verifyEvidence) =>
    cases.map(([signed, seen, collector]) => {
      const { checks } = verify(signed, collector === undefined ? {} : { collector })
      const verdictOf = (wanted: string) => checks.find(({ what }) => what === wanted)?.verdict
      return (
        Object.entries(seen).every(([what, verdict]) => verdictOf(what) === verdict) &&
        (Object.keys(seen).length > 0 || checks.every(({ verdict }) => verdict === 'holds'))
      )
    })

  test('none: each change is seen', () => {
    expect(isRight(verifyEvidence)).toEqual(cases.map(() => true))
  })

  test.each([
    ['whose key it is does not matter', 'if (!isTheirs) {', 'if (keys.length < 0) {'],
    ['a key of another is a key of nobody', 'if (owner !== undefined)', "if (owner === '')"],
    [
      'what was signed need be no vote on this activity',
      "const isOn = isSubmission ? vote.selection === 'VOTE_SELECTION_APPROVED' : isVoteOn(activity, vote)",
      'const isOn = isSubmission || isVoteOn(activity, vote) || true',
    ],
    [
      'a vote on another activity counts',
      'parameters?.fingerprint === activity.fingerprint',
      'parameters !== undefined',
    ],
    ['a vote need not be signed', 'const signed = isOn && isSignedBy(vote)', 'const signed = isOn'],
    ['of which activity a vote is on record does not matter', 'signed && vote.activityId === activity.id', 'signed'],
    [
      'what the activity asks for need not have been submitted',
      "isSame(body['parameters'], intent)",
      'body !== undefined',
    ],
    ['what has changed since is not said', 'if (changed || isCut) {', 'if (isCut) {'],
    [
      'what the state decides does not matter',
      'decided.outcome === outcome && (outcome',
      'decided.outcome.length > 0 && (outcome',
    ],
    [
      'which policies the service names does not matter',
      'named === undefined || isSame(named, decided.policies)',
      'named !== null',
    ],
    ['what the user of a key is called does not matter', 'user?.name === userName', 'user !== undefined'],
    ['who has signed it does not matter', 'isSigned && isExpected', 'isSigned'],
    ['it need not be signed', 'isSigned && isExpected', 'isExpected'],
  ])('%s: found', async (mistake, from, to) => {
    const { verifyEvidence: mistaken } = await mutated<{ verifyEvidence: typeof verifyEvidence }>(
      { mistake, file: 'evidence/verify.ts', from, to },
      { module: 'evidence/verify.ts', copied: ['evidence'] },
    )
    expect(isRight(mistaken)).toContain(false)
  })
})

test('quorate evidence --out, verify: a file that is checked without settings, and exits that say what came of it', async () => {
  const file = join(testFolder(), 'payment.json')
  const written = await quorateShared(['evidence', signature.id, '--out', file], { env })
  expect(written.exit, written.stderr).toBe(0)
  expect(written.stderr).toMatch(
    /payment\.json: ACTIVITY_TYPE_SIGN_\w+ with 2 votes, and \d+ polic(y|ies), \d+ users and \d+ other things?, by which it is decided\. Check it with `quorate evidence verify .*payment\.json`\.\n$/,
  )
  const verified = await quorateShared(['evidence', 'verify', file, '--collector', service.root.publicKey])
  expect(verified.exit, verified.stdout).toBe(0)
  expect(verified.stdout).toContain('  holds    decision: allowed by these votes under these policies, by two sign\n')
  expect(verified.stdout).toContain(
    'All of it holds.\nPeople and policies are as the key that you named with --collector has signed them.\n',
  )
  expect(verified.stdout).not.toMatch(/[0-9a-f]{20}/)
  // Whose key it is, the file cannot say: one that was not named is shown whole, once.
  const anyKey = await quorateShared(['evidence', 'verify', file])
  expect([anyKey.exit, anyKey.stdout.split(service.root.publicKey)]).toEqual([
    0,
    [expect.stringContaining('All of it holds.'), '\n'],
  ])
  writeFileSync(file, readFileSync(file, 'utf8').replace('two sign', 'one sign'))
  const broken = await quorateShared(['evidence', 'verify', file, '--json'])
  expect(broken.exit).toBe(1)
  expect(JSON.parse(broken.stdout).checks[0]).toMatchObject({ what: 'bundle', verdict: 'broken' })
  const other = await quorateShared(['evidence', 'verify', file, '--collector', '02ab'])
  expect(other.exit).toBe(1)
})

// Last: it changes what decides the others.
test('evidence: where the activity itself has changed what decides, that is said', async () => {
  const { activities } = await service.root.query('list_activities', { paginationOptions: { limit: '100' } })
  const { policyId } = activities.find(({ type }) => type === 'ACTIVITY_TYPE_CREATE_POLICY_V3')!.result
    .createPolicyResult!
  const own = await service.root.submit('ACTIVITY_TYPE_UPDATE_POLICY_V2', { policyId, policyNotes: 'again' })
  expect(verifyEvidence(await collect(own.id)).checks.at(-1)!.said).toMatch(
    /^who and what decides was changed afterwards, by this activity itself/,
  )
})
