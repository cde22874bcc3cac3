/** Operators of apps for enclaves, and the requests that make apps and deployments. */
import { generateP256KeyPair, sha256, signEs256, uncompressP256 } from '../../../src/crypto/index.ts'
import { decodeHex, encodeHex } from '../../../src/encoding/index.ts'
import type { TestClient } from '../harness.ts'
import { complete, fresh } from './steps.ts'

export const TVC_IMAGE = `ghcr.io/acme/app:v1@sha256:${'ab'.repeat(32)}`

/** Somebody with the two keys of an operator. */
export function createOperator(name = fresh('operator')) {
  const [encrypt, sign] = [generateP256KeyPair(), generateP256KeyPair()]
  const encryptKey = uncompressP256(encrypt.publicKey)!
  const signKey = uncompressP256(sign.publicKey)!
  const publicKey = encryptKey + signKey
  return {
    params: { name, publicKey },
    publicKey,
    encryptKey,
    signKey,
    encryptPrivateKey: decodeHex(encrypt.privateKey),
    /** Signs a manifest (base64, as it is answered) as its operator does. */
    approve: (manifest: string) => encodeHex(signEs256(sign.privateKey, sha256(Buffer.from(manifest, 'base64')))),
  }
}
export type Operator = ReturnType<typeof createOperator>

/** One set of `create_tvc_app`. */
export const setOf = (operators: readonly Operator[], threshold: number) => ({
  name: fresh('set'),
  threshold,
  newOperators: operators.map(({ params }) => params),
})

/** The parameters of `create_tvc_app`, with two operators of each set. */
export function newApp(overrides: object = {}) {
  const two = () => setOf([createOperator(), createOperator()], 2)
  const sets = { manifestSetParams: two(), shareSetParams: two() }
  return { name: fresh('app'), quorumPublicKey: createOperator().publicKey, ...sets, ...overrides }
}

/** The parameters of `create_tvc_deployment`. */
export function newDeployment(appId: string, overrides: object = {}) {
  return {
    appId,
    qosVersion: 'v2026.2.6',
    pivotContainerImageUrl: TVC_IMAGE,
    pivotPath: '/app',
    pivotArgs: ['--port', '3000'],
    expectedPivotDigest: 'cd'.repeat(32),
    healthCheckType: 'TVC_HEALTH_CHECK_TYPE_HTTP',
    healthCheckPort: 3000,
    publicIngressPort: 3000,
    ...overrides,
  }
}

/** Makes an app with one deployment. */
export async function makeTvcDeployment(client: TestClient, app: object = newApp(), organizationId?: string) {
  const made = await complete(client, 'ACTIVITY_TYPE_CREATE_TVC_APP', app, organizationId)
  const { deploymentId, manifestId } = await complete(
    client,
    'ACTIVITY_TYPE_CREATE_TVC_DEPLOYMENT',
    newDeployment(made.appId),
    organizationId,
  )
  return { ...made, tvcAppId: made.appId, deploymentId, manifestId }
}
