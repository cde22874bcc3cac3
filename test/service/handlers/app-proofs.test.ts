import { verifyAppProofSignature } from '@turnkey/crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject, Wire } from '../../../src/protocol/index.ts'
import { createTestUser, startTestService, type TestService } from '../harness.ts'
import { rowsOf } from '../rows.ts'
import { complete, fresh, NOBODY, newPrivateKey, refusalOf } from './steps.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

const account = (path: string) => ({
  ...{ curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', path, addressFormat: 'ADDRESS_FORMAT_ETHEREUM' },
})
const accounts = Array.from({ length: 24 }, (_, at) => account(`m/44'/60'/0'/0/${at}`))
const wallet = () => ({ walletName: fresh('wallet'), accounts })

async function submit(
  type: 'ACTIVITY_TYPE_CREATE_WALLET' | 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2',
  parameters: object,
) {
  const { path, text } = service.body(type, parameters)
  const body = JSON.stringify({ ...JSON.parse(text), generateAppProofs: true })
  const answer = await service.root.raw(path, body)
  return answer.body['activity'] as unknown as Wire.Activity
}

const payloadOf = ({ proofPayload }: Wire.AppProof) => JSON.parse(proofPayload) as JsonObject
const listOf = async (activityId: string) => (await service.root.query('list_app_proofs', { activityId })).appProofs

describe('app proofs', () => {
  test('app proofs: each address that was made and the outcome are signed, as the published client verifies it', async () => {
    const activity = await submit('ACTIVITY_TYPE_CREATE_WALLET', wallet())
    const { walletId, addresses } = activity.result.createWalletResult!
    const proofs = activity.appProofs!
    for (const proof of proofs) verifyAppProofSignature(proof as never)
    const { organizationId } = service
    const timestampMs = payloadOf(proofs[0]!)['timestampMs']
    expect(proofs.map(payloadOf)).toEqual([
      ...addresses.map((address, at) => ({
        type: 'APP_PROOF_TYPE_ADDRESS_DERIVATION',
        timestampMs,
        addressDerivationProof: { organizationId, walletId, derivationPath: accounts[at]!.path, address },
      })),
      {
        type: 'APP_PROOF_TYPE_POLICY_OUTCOME',
        timestampMs,
        policyOutcomeProof: {
          ...{ organizationId, outcome: 'OUTCOME_ALLOW', parentOrganizationDataDigest: '' },
          ...{ decisionContextDigest: expect.any(String), organizationDataDigest: expect.any(String) },
          userRequestApprovals: [
            {
              userId: service.rootUserId,
              publicKey: service.root.publicKey,
              scheme: 'SIGNATURE_SCHEME_TK_API_P256',
              signature: activity.votes[0]!.signature,
            },
          ],
        },
      },
    ])
    // The same again wherever it is asked for, and after a restart.
    await service.restart()
    expect(await listOf(activity.id)).toEqual(proofs)
    expect((await service.root.query('get_activity', { activityId: activity.id })).activity.appProofs).toEqual(proofs)
    const keys = await submit('ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', { privateKeys: [newPrivateKey()] })
    expect(keys.appProofs!.map((proof) => payloadOf(proof)['type'])).toEqual([
      ...Array.from({ length: 2 }, () => 'APP_PROOF_TYPE_ADDRESS_DERIVATION'),
      'APP_PROOF_TYPE_POLICY_OUTCOME',
    ])
    expect(keys.appProofs![0]!.publicKey).toBe(proofs[0]!.publicKey)
    expect(proofs[0]!.publicKey).toMatch(/^04[0-9a-f]{128}04[0-9a-f]{128}$/)
  })

  test('app proofs: the folder of a version that had no key for them gets one, and keeps its others', async () => {
    const { signerPublicKey } = service.service.bootstrap
    await service.service.close()
    const deleted = "delete from service_keys where name like 'app-proofs%' returning name"
    expect(await rowsOf(service.dataDir, deleted)).toHaveLength(2)
    await service.restart()
    const { appProofs } = await submit('ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', { privateKeys: [newPrivateKey()] })
    verifyAppProofSignature(appProofs![0] as never)
    expect(service.service.bootstrap.signerPublicKey).toBe(signerPublicKey)
  })

  test('app proofs: what was changed after it was signed does not verify', async () => {
    const { appProofs } = await submit('ACTIVITY_TYPE_CREATE_WALLET', wallet())
    const [proof] = appProofs!
    const changed = { ...proof!, proofPayload: proof!.proofPayload.replace('0x', '0X') }
    expect(() => verifyAppProofSignature(changed as never)).toThrow()
  })

  test('app proofs: there are none where nobody asked, and none of an activity that waits until it is done', async () => {
    const made = await service.root.submit('ACTIVITY_TYPE_CREATE_WALLET', wallet())
    expect([made.appProofs, await listOf(made.id)]).toEqual([undefined, []])
    expect((await refusalOf(listOf(NOBODY))).slice(0, 2)).toEqual([404, 5])
    const second = await createTestUser(service, 'second')
    const both = [service.rootUserId, second.userId]
    const user = await createTestUser(service, 'asks')
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName: 'two',
      effect: 'EFFECT_ALLOW',
      consensus: `approvers.any(user, user.id == '${user.userId}') && approvers.any(user, user.id == '${both[1]}')`,
      condition: "activity.resource == 'WALLET'",
    })
    const { path, text } = service.body('ACTIVITY_TYPE_CREATE_WALLET', wallet())
    const asked = await user.client.raw(path, JSON.stringify({ ...JSON.parse(text), generateAppProofs: true }))
    const waiting = asked.body['activity'] as unknown as Wire.Activity
    expect([waiting.status, waiting.appProofs]).toEqual(['ACTIVITY_STATUS_CONSENSUS_NEEDED', undefined])
    const done = await second.client.approve(waiting.fingerprint)
    const outcome = payloadOf(done.appProofs!.at(-1)!)['policyOutcomeProof'] as {
      userRequestApprovals: { userId: string }[]
    }
    expect(outcome.userRequestApprovals.map(({ userId }) => userId)).toEqual([user.userId, second.userId])
  })
})

describe('boot proofs', () => {
  test('boot proofs: there are none, and none is made up', async () => {
    expect(await refusalOf(service.root.query('get_boot_proof', { ephemeralKey: '04ab' }))).toEqual([
      404,
      5,
      'boot proof not found: 04ab',
      '',
    ])
    expect((await refusalOf(service.root.query('get_latest_boot_proof', { appName: 'signer' })))[1]).toBe(5)
  })
})
