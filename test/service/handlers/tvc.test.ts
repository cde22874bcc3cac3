/** Apps for enclaves, from their operators to the shares that their enclaves are given. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { combineShares, openEnvelope, sha256 } from '../../../src/crypto/index.ts'
import { canonicalJson, decodeHex, encodeHex } from '../../../src/encoding/index.ts'
import type { Transaction } from '../../../src/service/store/index.ts'
import { openStoreOf } from '../../postgres.ts'
import { createTestClock, startTestService, type TestService } from '../harness.ts'
import { createEnclave, createEnclaveRoot, type EnclaveRoot } from './enclave.ts'
import {
  addTenant,
  complete,
  fresh,
  invalid,
  invalidField,
  missing,
  NOBODY,
  type Refusal,
  refusalOf,
  type Tenant,
  taken,
} from './steps.ts'
import { createOperator, makeTvcDeployment, newApp, newDeployment, type Operator, setOf, TVC_IMAGE } from './tvc.ts'

const clock = createTestClock()
let root: EnclaveRoot
let service: TestService
let stranger: Tenant
beforeAll(async () => {
  root = await createEnclaveRoot(clock())
  service = await startTestService({ clock, enclaveRoot: root.certificate })
  stranger = await addTenant(service)
})
afterAll(() => service.close())

const deploymentOf = async (deploymentId: string) =>
  (await service.root.query('get_tvc_deployment', { deploymentId })).tvcDeployment
const appOf = async (tvcAppId: string) => (await service.root.query('get_tvc_app', { tvcAppId })).tvcApp
const approve = (manifestId: string, ...approvals: object[]) =>
  service.root.submit('ACTIVITY_TYPE_CREATE_TVC_MANIFEST_APPROVALS', { manifestId, approvals })
/** Requests that are on their way already. */
async function expectRefusals(rows: readonly (readonly [sent: Promise<unknown>, refusal: Refusal])[]): Promise<void> {
  expect(await Promise.all(rows.map(([sent]) => refusalOf(sent)))).toEqual(rows.map(([, refusal]) => refusal))
}

/** Reads what no query answers, while the service is down. */
async function stored<Row>(read: (tx: Transaction) => Promise<Row>): Promise<Row> {
  await service.service.close()
  const database = await openStoreOf(service.dataDir, { now: 0 })
  const rows = await database.read(read)
  await database.close()
  await service.restart()
  return rows
}
const setLive = (deploymentId: string) =>
  service.root.submit('ACTIVITY_TYPE_UPDATE_TVC_APP_LIVE_DEPLOYMENT', { deploymentId })

const wallet = () => ({ walletName: fresh('wallet'), path: "m/5527107'/0'/0'", operatorName: 'here' })
const createHosted = async (overrides: object = {}) =>
  complete(service.root, 'ACTIVITY_TYPE_CREATE_TVC_OPERATOR', { ...wallet(), ...overrides })

/** An app of three who approve, two of them enough, and two who hold shares, with a deployment. */
async function stage(overrides: object = {}) {
  const approvers = [createOperator(), createOperator(), createOperator()] as const
  const holders = [createOperator(), createOperator()] as const
  const sets = { manifestSetParams: setOf(approvers, 2), shareSetParams: setOf(holders, 2) }
  const made = await makeTvcDeployment(service.root, newApp({ ...sets, ...overrides }))
  const { manifest } = await deploymentOf(made.deploymentId)
  const approvals = approvers.map((operator, at) => ({
    operatorId: made.manifestSetOperatorIds[at]!,
    signature: operator.approve(manifest.manifest),
  }))
  return { ...made, approvers, holders, approvals, manifest: manifest.manifest }
}

describe('TVC apps', () => {
  test('TVC apps: from an app to a live deployment, once as many as it takes have approved the manifest', async () => {
    const { appId, deploymentId, manifestId, approvers, approvals, manifest, ...made } = await stage({
      enableEgress: true,
    })
    expect([made.manifestSetThreshold, made.shareSetThreshold]).toEqual([2, 2])
    const app = await appOf(appId)
    expect(app).toMatchObject({ id: appId, enableEgress: true, publicDomain: '', enableDebugModeDeployments: false })
    expect(app.manifestSet.operators.map(({ publicKey }) => publicKey)).toEqual(approvers.map((each) => each.publicKey))
    const text = Buffer.from(manifest, 'base64').toString()
    expect(canonicalJson(JSON.parse(text))).toBe(text)
    expect(JSON.parse(text)).toMatchObject({
      version: 'v2',
      namespace: { name: appId, nonce: '0', quorumKey: app.quorumPublicKey },
      pivot: { hash: 'cd'.repeat(32), args: ['--port', '3000'], debugMode: false },
      manifestSet: {
        threshold: '2',
        members: approvers.map(({ params }) => ({ alias: params.name, pubKey: params.publicKey })),
      },
      enclave: { awsRootCertificate: root.certificate, qosCommit: 'v2026.2.6', pcr0: '' },
    })

    const below = (present: number) =>
      invalid(`the manifest of TVC deployment ${deploymentId} has ${present} of 2 approvals`)
    expect(await refusalOf(setLive(deploymentId))).toEqual(below(0))
    await approve(manifestId, approvals[0]!)
    expect(await refusalOf(setLive(deploymentId))).toEqual(below(1))
    await approve(manifestId, approvals[2]!)
    await setLive(deploymentId)
    expect((await appOf(appId)).liveDeploymentId).toBe(deploymentId)
    const { manifestApprovals } = await deploymentOf(deploymentId)
    expect(manifestApprovals.map(({ operator }) => operator.name)).toEqual([
      approvers[0].params.name,
      approvers[2].params.name,
    ])
    expect(encodeHex(Buffer.from(manifestApprovals[0]!.approval, 'base64'))).toBe(approvals[0]!.signature)
    const { appStatus } = await service.root.query('get_app_status', { appId })
    expect(appStatus).toMatchObject({
      targetedDeploymentId: deploymentId,
      deployments: [{ readyReplicas: 0, desiredReplicas: 1 }],
    })
  })

  test('TVC apps: a deployment is marked, leaves its app without a live one, and is restored', async () => {
    const { appId, deploymentId, manifestId, approvals } = await stage()
    await approve(manifestId, ...approvals)
    await setLive(deploymentId)
    const remove = () => service.root.submit('ACTIVITY_TYPE_DELETE_TVC_DEPLOYMENT', { deploymentId })
    const restore = () => service.root.submit('ACTIVITY_TYPE_RESTORE_TVC_DEPLOYMENT', { deploymentId })
    expect(await refusalOf(restore())).toEqual(invalid(`TVC deployment ${deploymentId} is not marked for deletion`))
    await remove()
    const marked = invalid(`TVC deployment ${deploymentId} is marked for deletion`)
    const sent = [remove(), setLive(deploymentId), approve(manifestId, approvals[0]!)]
    await expectRefusals(sent.map((each) => [each, marked]))
    expect((await deploymentOf(deploymentId)).delete).toBe(true)
    expect((await appOf(appId)).liveDeploymentId).toBeUndefined()
    await restore()
    await setLive(deploymentId)
    expect((await appOf(appId)).liveDeploymentId).toBe(deploymentId)
  })

  test('TVC apps: an app goes with its deployments, and with the sets and operators that no other has', async () => {
    const { operatorId: hosted } = await createHosted()
    const held = { ...setOf([createOperator(), createOperator()], 2), existingOperatorIds: [hosted] }
    const first = await stage({ shareSetParams: held })
    const kept = { manifestSetId: first.manifestSetId, manifestSetParams: undefined }
    const [reused, gone] = first.shareSetOperatorIds
    const shareSetParams = { ...setOf([createOperator()], 2), existingOperatorIds: [reused!] }
    const second = await makeTvcDeployment(service.root, newApp({ ...kept, shareSetParams }))
    expect(second.manifestSetOperatorIds).toEqual(first.manifestSetOperatorIds)
    expect(second.shareSetOperatorIds[1]).toBe(reused)
    await approve(first.manifestId, first.approvals[0]!)
    await complete(service.root, 'ACTIVITY_TYPE_DELETE_TVC_APP_AND_DEPLOYMENTS', { appId: first.appId })
    const { tvcApps } = await service.root.query('list_tvc_apps')
    expect(tvcApps.map(({ id }) => id)).not.toContain(first.appId)
    expect(await refusalOf(service.root.query('get_tvc_deployment', { deploymentId: first.deploymentId }))).toEqual(
      missing(`TVC deployment not found: ${first.deploymentId}`),
    )
    const again = (params: object) => service.root.submit('ACTIVITY_TYPE_CREATE_TVC_APP', newApp(params))
    expect(await refusalOf(again({ shareSetParams: undefined, shareSetId: first.shareSetId }))).toEqual(
      missing(`operator set of \`shareSetId\` not found: ${first.shareSetId}`),
    )
    const withOperator = (id: string) =>
      again({ shareSetParams: { ...setOf([createOperator()], 2), existingOperatorIds: [id] } })
    expect(await refusalOf(withOperator(gone!))).toEqual(missing(`TVC operator not found: ${gone}`))
    await withOperator(hosted)
    await again(kept)
    expect((await appOf(second.appId)).shareSet.operators.map(({ id }) => id)).toContain(reused)
  })

  test('TVC apps: their sets and keys are checked', async () => {
    const [one, two] = [createOperator(), createOperator()]
    const both = 'must be two uncompressed P-256 public keys in hex: the one to encrypt to, then the one that signs'
    const [tooLong, length] = ['n'.repeat(256), 'must have 1 to 255 characters']
    // One person with two operators, by a key that both have.
    const sharing = (encryptKey: string, signKey: string) => {
      const other = { ...two, params: { name: 'the same', publicKey: encryptKey + signKey } }
      return setOf([one, other], 2)
    }
    const twice = (set: string, key: string) => invalidField(`${set}.publicKey`, `must not mention \`${key}\` twice`)
    const rows: readonly (readonly [parameters: object, refusal: Refusal])[] = [
      [{ name: tooLong }, invalidField('name', length)],
      [{ manifestSetParams: { ...setOf([one], 1), name: tooLong } }, invalidField('manifestSetParams.name', length)],
      [
        { manifestSetParams: setOf([createOperator(tooLong)], 1) },
        invalidField('manifestSetParams.newOperators[0].name', length),
      ],
      [{ quorumPublicKey: '04ab' }, invalidField('quorumPublicKey', both)],
      [{ quorumPublicKey: one.encryptKey.repeat(2) }, invalidField('quorumPublicKey', both)],
      [{ manifestSetParams: undefined }, invalid('invalid request body: missing field `manifestSetParams`')],
      [{ manifestSetId: NOBODY }, invalidField('manifestSetId', 'cannot be given together with `manifestSetParams`')],
      [
        { manifestSetId: NOBODY, manifestSetParams: undefined },
        missing(`operator set of \`manifestSetId\` not found: ${NOBODY}`),
      ],
      [{ manifestSetParams: setOf([], 1) }, invalidField('manifestSetParams', 'must have 1 to 32 operators, got 0')],
      [
        { manifestSetParams: setOf(Array<Operator>(33).fill(one), 1) },
        invalidField('manifestSetParams', 'must have 1 to 32 operators, got 33'),
      ],
      [
        { manifestSetParams: setOf([one], 2) },
        invalidField('manifestSetParams.threshold', 'must be from 1 to the number of operators, 1'),
      ],
      [
        { shareSetParams: setOf([one, two], 1) },
        invalidField('shareSetParams.threshold', 'must be from 2 to the number of operators, 2'),
      ],
      [
        { manifestSetParams: setOf([one, one], 2) },
        invalidField('manifestSetParams.publicKey', `must not mention \`${one.encryptKey}\` twice`),
      ],
      [{ manifestSetParams: sharing(one.encryptKey, two.signKey) }, twice('manifestSetParams', one.encryptKey)],
      [{ manifestSetParams: sharing(two.encryptKey, one.signKey) }, twice('manifestSetParams', one.signKey)],
      [{ shareSetParams: sharing(one.encryptKey, two.signKey) }, twice('shareSetParams', one.encryptKey)],
      [
        { manifestSetParams: { ...setOf([one], 1), existingOperatorIds: [NOBODY] } },
        missing(`TVC operator not found: ${NOBODY}`),
      ],
    ]
    for (const [parameters, refusal] of rows) {
      const sent = service.root.submit('ACTIVITY_TYPE_CREATE_TVC_APP', newApp(parameters))
      expect([parameters, await refusalOf(sent)]).toEqual([parameters, refusal])
    }
  })

  test('TVC apps: deployments, images and approvals are checked', async () => {
    const { appId, manifestId, approvals, approvers, manifest } = await stage()
    const image = (why: string): Refusal => [
      400,
      3,
      `TVC image validation failed: ${why}`,
      'TVC_IMAGE_VALIDATION_FAILED',
    ]
    const deployments: readonly (readonly [parameters: object, refusal: Refusal])[] = [
      [{ appId: NOBODY }, missing(`TVC app not found: ${NOBODY}`)],
      [{ pivotContainerImageUrl: 'not an image' }, image('it is no image reference')],
      [{ pivotContainerImageUrl: 'acme/app:no tag' }, image('its tag cannot be one')],
      [{ pivotContainerImageUrl: 'acme/app@sha256:00' }, image('its digest is no SHA-256')],
      [{ expectedPivotDigest: `0x${'c'.repeat(62)}` }, invalidField('expectedPivotDigest', 'must be a SHA-256 in hex')],
      [{ expectedPivotDigest: 'cd' }, invalidField('expectedPivotDigest', 'must be a SHA-256 in hex')],
      [{ debugMode: true }, invalid(`TVC app ${appId} has debug mode deployments disabled`)],
      [{ healthCheckPort: 65_536 }, invalidField('healthCheckPort', 'must be from 1 to 65535')],
      [{ replicas: 101 }, invalidField('replicas', 'must be from 1 to 100')],
      [{ nonce: 0 }, invalidField('nonce', 'must be from 1 to 4294967295')],
    ]
    for (const [parameters, refusal] of deployments) {
      const sent = service.root.submit('ACTIVITY_TYPE_CREATE_TVC_DEPLOYMENT', newDeployment(appId, parameters))
      expect([parameters, await refusalOf(sent)]).toEqual([parameters, refusal])
    }
    const validate = (pivotContainerImageUrl: string) =>
      service.root.query('validate_tvc_image', { pivotContainerImageUrl })
    expect(await validate(TVC_IMAGE)).toEqual({ resolvedImageDigest: `sha256:${'ab'.repeat(32)}` })
    expect(await refusalOf(validate('localhost:5000/app:v1'))).toEqual(
      image('this service asks no registry: pin it by its digest, `@sha256:…`'),
    )

    const [first, second] = approvals
    const foreign = (await stage()).approvals[0]!
    const notTheirs = invalidField('signature', `must be of operator ${first!.operatorId}, over the manifest`)
    const outsider = invalid(`TVC operator ${foreign.operatorId} is not in the manifest set`)
    const said: readonly (readonly [sent: Promise<unknown>, refusal: Refusal])[] = [
      [approve(NOBODY, first!), missing(`TVC manifest not found: ${NOBODY}`)],
      [approve(manifestId, foreign), outsider],
      [approve(manifestId, { ...first, signature: second!.signature }), notTheirs],
      [approve(manifestId, { ...first, signature: foreign.signature }), notTheirs],
      [approve(manifestId, { ...first, signature: 'deadbeef' }), notTheirs],
      [
        approve(manifestId, first!, first!),
        invalidField('operatorId', `must not mention \`${first!.operatorId}\` twice`),
      ],
      // All or nothing.
      [approve(manifestId, second!, foreign), outsider],
    ]
    await expectRefusals(said)
    await approve(manifestId, first!)
    const again = { operatorId: first!.operatorId, signature: approvers[0].approve(manifest) }
    expect(await refusalOf(approve(manifestId, again))).toEqual(
      taken(`TVC operator ${first!.operatorId} has approved this manifest already`),
    )
    await approve(manifestId, second!)
  })

  test('TVC apps: when fifty deployments stand there is room for no more, and those that are marked make it', async () => {
    const { appId } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_TVC_APP', newApp())
    const create = () => complete(service.root, 'ACTIVITY_TYPE_CREATE_TVC_DEPLOYMENT', newDeployment(appId))
    const ids: string[] = []
    for (let made = 0; made < 50; made++) ids.push((await create()).deploymentId)
    expect((await refusalOf(create()))[1]).toBe(8)
    for (const deploymentId of ids.slice(0, 2))
      await complete(service.root, 'ACTIVITY_TYPE_DELETE_TVC_DEPLOYMENT', { deploymentId })
    const { deploymentId } = await create()
    const { tvcDeployments } = await service.root.query('list_tvc_app_deployments', { appId })
    expect(tvcDeployments.map(({ id }) => id)).toEqual([...ids.slice(1), deploymentId])
  })
})

describe('TVC operators and quorum keys', () => {
  test('TVC operators: one whose keys are here signs manifests by its wallet', async () => {
    const one = await createHosted()
    expect(one.encryptPublicKey).toMatch(/^04[0-9a-f]{128}$/)
    const { accounts } = await service.root.query('list_wallet_accounts', { walletId: one.walletId })
    expect(accounts.map(({ path, address }) => [path, address])).toEqual([
      ["m/5527107'/0'/0'/0", one.encryptPublicKey],
      ["m/5527107'/0'/0'/1", one.signPublicKey],
    ])
    const manifestSetParams = { name: 'hosted', threshold: 1, existingOperatorIds: [one.operatorId] }
    const { manifestId, deploymentId } = await makeTvcDeployment(service.root, newApp({ manifestSetParams }))
    const { manifest } = await deploymentOf(deploymentId)
    const signed = await complete(service.root, 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', {
      signWith: one.signPublicKey,
      payload: encodeHex(sha256(Buffer.from(manifest.manifest, 'base64'))),
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_SHA256',
    })
    await approve(manifestId, { operatorId: one.operatorId, signature: signed.r + signed.s })
    await setLive(deploymentId)

    const next = await createHosted({ walletName: undefined, walletId: one.walletId, path: "m/5527107'/0'/1'" })
    expect(next.walletId).toBe(one.walletId)
    const rows: readonly (readonly [parameters: object, refusal: Refusal])[] = [
      [{ walletId: one.walletId }, invalidField('walletName', 'cannot be given together with `walletId`')],
      [{ walletName: undefined }, invalid('invalid request body: missing field `walletName`')],
      [{ walletName: undefined, walletId: NOBODY }, missing(`wallet not found: ${NOBODY}`)],
    ]
    for (const [parameters, refusal] of rows) {
      const sent = service.root.submit('ACTIVITY_TYPE_CREATE_TVC_OPERATOR', { ...wallet(), ...parameters })
      expect([parameters, await refusalOf(sent)]).toEqual([parameters, refusal])
    }
    const same = { ...wallet(), walletName: undefined, walletId: one.walletId }
    expect((await refusalOf(service.root.submit('ACTIVITY_TYPE_CREATE_TVC_OPERATOR', same)))[1]).toBe(6)
  })

  test('TVC quorum keys: keys and threshold are checked', async () => {
    const [a, b] = [createOperator().encryptKey, createOperator().encryptKey]
    const rows: readonly (readonly [parameters: object, refusal: Refusal])[] = [
      [{ operatorEncryptKeys: [a] }, invalidField('operatorEncryptKeys', 'must have 2 to 254 keys, got 1')],
      [
        { operatorEncryptKeys: Array<string>(255).fill(a) },
        invalidField('operatorEncryptKeys', 'must have 2 to 254 keys, got 255'),
      ],
      [
        { operatorEncryptKeys: [a, a.toUpperCase()] },
        invalidField('operatorEncryptKeys', `must not mention \`${a}\` twice`),
      ],
      [
        { operatorEncryptKeys: [a, `04${'11'.repeat(64)}`] },
        invalidField('operatorEncryptKeys', 'must be an uncompressed P-256 public key in hex'),
      ],
      [{ threshold: 1 }, invalidField('threshold', 'must be from 2 to the number of keys, 2')],
      [{ threshold: 3 }, invalidField('threshold', 'must be from 2 to the number of keys, 2')],
    ]
    for (const [parameters, refusal] of rows) {
      const wanted = { threshold: 2, operatorEncryptKeys: [a, b], ...parameters }
      const sent = service.root.submit('ACTIVITY_TYPE_CREATE_TVC_QUORUM_KEY', wanted)
      expect([parameters, await refusalOf(sent)]).toEqual([parameters, refusal])
    }
  })

  test('TVC quorum keys: a share goes from a holder whose keys are here to an enclave that runs the manifest, and to no other', async () => {
    const [one, two] = [await createHosted(), await createHosted()]
    const key = await complete(service.root, 'ACTIVITY_TYPE_CREATE_TVC_QUORUM_KEY', {
      threshold: 2,
      operatorEncryptKeys: [one.encryptPublicKey, two.encryptPublicKey],
    })
    expect(new Set(key.shareIds).size).toBe(2)
    const shareSetParams = { name: 'hosted', threshold: 2, existingOperatorIds: [one.operatorId, two.operatorId] }
    const made = await stage({ quorumPublicKey: key.quorumPublicKey, shareSetParams })
    const enclave = await createEnclave(root, { manifest: Buffer.from(made.manifest, 'base64'), now: clock() })
    const request = {
      attestationDocB64: enclave.document,
      manifestB64: made.manifest,
      operatorEncryptKey: one.encryptPublicKey,
      operatorSignKey: one.signPublicKey,
      deploymentId: made.deploymentId,
      appQuorumKey: key.quorumPublicKey,
    }
    const submit = (overrides: object = {}) =>
      service.root.submit('ACTIVITY_TYPE_RE_ENCRYPT_TVC_QUORUM_KEY_SHARE', { ...request, ...overrides })
    expect(await refusalOf(submit())).toEqual(
      invalid(`the manifest of TVC deployment ${made.deploymentId} has 0 of 2 approvals`),
    )
    await approve(made.manifestId, ...made.approvals.slice(0, 2))
    const of = (options: object, by = root) =>
      createEnclave(by, { manifest: Buffer.from(made.manifest, 'base64'), now: clock(), ...options })
    const believed = (why: string) =>
      invalidField('attestationDocB64', `must be the attestation of an enclave that runs the manifest: ${why}`)
    const rows: readonly (readonly [overrides: object, refusal: Refusal])[] = [
      [{ appQuorumKey: createOperator().publicKey }, invalidField('appQuorumKey', 'must be the quorum key of the app')],
      [{ manifestB64: 'AAAA' }, invalidField('manifestB64', 'must be the manifest of the deployment')],
      [
        { operatorSignKey: two.signPublicKey },
        invalid(`TVC operator ${one.encryptPublicKey}${two.signPublicKey} is not in the share set`),
      ],
      [{ attestationDocB64: 'AAAA' }, believed('it is no CBOR')],
      [
        { attestationDocB64: (await of({ manifest: Buffer.from('other') })).document },
        believed('it is of another manifest'),
      ],
      [
        { attestationDocB64: (await of({}, await createEnclaveRoot(clock()))).document },
        believed('its certificates do not begin with the root of the manifest'),
      ],
      [
        { attestationDocB64: (await of({ isForged: true })).document },
        believed('its signature is not by its certificate'),
      ],
      [
        { attestationDocB64: (await of({ now: clock() - 100 * 86_400_000 })).document },
        believed('one of its certificates is not valid at this time'),
      ],
    ]
    for (const [overrides, refusal] of rows) expect(await refusalOf(submit(overrides))).toEqual(refusal)

    const activity = await submit()
    expect(activity.result.reEncryptTvcQuorumKeyShareResult).toEqual({
      provisioningShareId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    expect(await refusalOf(submit())).toEqual(
      taken(`TVC operator ${one.operatorId} has posted a share for this enclave already`),
    )
    await submit({ operatorEncryptKey: two.encryptPublicKey, operatorSignKey: two.signPublicKey })
    // What the enclave would be given opens with its own key alone, and is the seed of the quorum's key.
    const shares = await stored((tx) => tx.selectFrom('tvc_provisioning_shares').select('share').execute())
    expect(enclave.publicKeyOf(combineShares(shares.map(({ share }) => enclave.open(share))))).toBe(key.quorumPublicKey)
  })

  test('TVC quorum keys: a holder elsewhere opens their share, seals it to the enclave and posts it once', async () => {
    const holders = [createOperator(), createOperator()] as const
    const key = await complete(service.root, 'ACTIVITY_TYPE_CREATE_TVC_QUORUM_KEY', {
      threshold: 2,
      operatorEncryptKeys: holders.map(({ encryptKey }) => encryptKey),
    })
    const made = await stage({ quorumPublicKey: key.quorumPublicKey, shareSetParams: setOf(holders, 2) })
    const ofKey = (tx: Transaction) =>
      tx.selectFrom('tvc_quorum_key_shares').selectAll().where('quorum_key_id', '=', key.quorumKeyId)
    const sealed = await stored((tx) => ofKey(tx).orderBy('tvc_quorum_key_shares.position').execute())
    const shares = sealed.map(({ encrypted_share }, at) => {
      const { encryptPrivateKey: privateKey, encryptKey } = holders[at]!
      return openEnvelope({ privateKey, publicKey: decodeHex(encryptKey) }, decodeHex(encrypted_share))
    })
    expect(shares.map((share) => [share.length, share[0]])).toEqual([
      [33, 1],
      [33, 2],
    ])
    const [operatorId] = made.shareSetOperatorIds
    const bundle = {
      operatorId,
      reEncryptedShareHex: sealed[0]!.encrypted_share,
      signature: holders[0].approve(made.manifest),
    }
    const ephemeralPublicKeyHex = createOperator().publicKey
    const submit = (overrides: object = {}, more: object = {}) =>
      service.root.submit('ACTIVITY_TYPE_POST_TVC_QUORUM_KEY_SHARE', {
        deploymentId: made.deploymentId,
        ephemeralPublicKeyHex,
        shareApprovalBundle: { ...bundle, ...overrides },
        ...more,
      })
    expect((await refusalOf(submit()))[2]).toContain('has 0 of 2 approvals')
    await approve(made.manifestId, ...made.approvals)
    const [approver] = made.manifestSetOperatorIds
    const rows: readonly (readonly [sent: Promise<unknown>, refusal: Refusal])[] = [
      [submit({}, { deploymentId: NOBODY }), missing(`TVC deployment not found: ${NOBODY}`)],
      [submit({ operatorId: NOBODY }), invalid(`TVC operator ${NOBODY} is not in the share set`)],
      [submit({ operatorId: approver }), invalid(`TVC operator ${approver} is not in the share set`)],
      [
        submit({ operatorId: made.shareSetOperatorIds[1] }),
        invalidField('signature', `must be of operator ${made.shareSetOperatorIds[1]}, over the manifest`),
      ],
      [
        submit({ reEncryptedShareHex: '0102' }),
        invalidField('reEncryptedShareHex', 'must be a share in hex, sealed to the enclave'),
      ],
    ]
    await expectRefusals(rows)
    await submit()
    expect(await refusalOf(submit())).toEqual(
      taken(`TVC operator ${operatorId} has posted a share for this enclave already`),
    )
    // Another replica has another key.
    await submit({}, { ephemeralPublicKeyHex: createOperator().publicKey })
  })

  test('TVC: what is another organization’s is as what does not exist', async () => {
    const { appId, deploymentId, manifestId, manifestSetId, manifestSetOperatorIds, approvals } = await stage()
    const submit = (type: Parameters<typeof stranger.client.submit>[0], parameters: object) =>
      stranger.client.submit(type, parameters, { organizationId: stranger.organizationId })
    const [existing] = manifestSetOperatorIds
    const withOperator = { ...setOf([createOperator()], 1), existingOperatorIds: [existing!] }
    const ofSet = { manifestSetId, manifestSetParams: undefined }
    const deployment = missing(`TVC deployment not found: ${deploymentId}`)
    const app = missing(`TVC app not found: ${appId}`)
    const rows: readonly (readonly [sent: Promise<unknown>, refusal: Refusal])[] = [
      [
        submit('ACTIVITY_TYPE_CREATE_TVC_APP', newApp(ofSet)),
        missing(`operator set of \`manifestSetId\` not found: ${manifestSetId}`),
      ],
      [
        submit('ACTIVITY_TYPE_CREATE_TVC_APP', newApp({ manifestSetParams: withOperator })),
        missing(`TVC operator not found: ${existing}`),
      ],
      [submit('ACTIVITY_TYPE_CREATE_TVC_DEPLOYMENT', newDeployment(appId)), app],
      [submit('ACTIVITY_TYPE_DELETE_TVC_APP_AND_DEPLOYMENTS', { appId }), app],
      [
        submit('ACTIVITY_TYPE_CREATE_TVC_MANIFEST_APPROVALS', { manifestId, approvals }),
        missing(`TVC manifest not found: ${manifestId}`),
      ],
      [submit('ACTIVITY_TYPE_UPDATE_TVC_APP_LIVE_DEPLOYMENT', { deploymentId }), deployment],
      [submit('ACTIVITY_TYPE_DELETE_TVC_DEPLOYMENT', { deploymentId }), deployment],
      [submit('ACTIVITY_TYPE_RESTORE_TVC_DEPLOYMENT', { deploymentId }), deployment],
      [stranger.client.query('get_tvc_app', { tvcAppId: appId, organizationId: stranger.organizationId }), app],
      [stranger.client.query('list_tvc_app_deployments', { appId, organizationId: stranger.organizationId }), app],
      [stranger.client.query('get_app_status', { appId, organizationId: stranger.organizationId }), app],
      [
        stranger.client.query('get_tvc_deployment', { deploymentId, organizationId: stranger.organizationId }),
        deployment,
      ],
      [
        stranger.client.query('get_tvc_deployment_debug_logs', {
          deploymentId,
          organizationId: stranger.organizationId,
        }),
        deployment,
      ],
    ]
    await expectRefusals(rows)
    expect((await stranger.client.query('list_tvc_apps', { organizationId: stranger.organizationId })).tvcApps).toEqual(
      [],
    )
    expect((await deploymentOf(deploymentId)).manifestApprovals).toEqual([])
  })
})
