/** Users whose votes need further factors. */
import type { Wire } from '../../../src/protocol/index.ts'
import { complete } from '../handlers/steps.ts'
import { createTestUser, type TestClient } from '../harness.ts'
import { createPasskey, type Passkey } from '../passkey.ts'
import { type Asked, activityOf, type LoginStage } from './stage.ts'

export type Steps = readonly (readonly Wire.AuthenticationMethod[])[]

/** A method of this type; of sessions, the id narrows it to a profile. */
export function methodOf(type: string, id?: string): Wire.AuthenticationMethod {
  return { type: `AUTHENTICATION_TYPE_${type}`, ...(id === undefined ? {} : { id }) } as Wire.AuthenticationMethod
}

export interface MfaUser {
  readonly userId: string
  /** By the user's API key. */
  readonly client: TestClient
  readonly privateKey: string
  readonly passkey: Passkey
  readonly byPasskey: Asked
  /** The policy that lets the user make tags. */
  readonly policyId: string
  /** Adds a further MFA policy. */
  add(order: number, steps: Steps, condition: string): Promise<unknown>
  approveByPasskey(fingerprint: string): Promise<Wire.Activity>
}

let users = 0

/** A user with a key and a passkey who may make tags, with these steps. */
export async function makeMfaUser(stage: LoginStage, steps: Steps, condition = 'true'): Promise<MfaUser> {
  const name = `user-${users++}`
  const { userId, client, privateKey } = await createTestUser(stage.service, name)
  const { root } = stage.service
  const passkey = createPasskey()
  await complete(root, 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2', { userId, authenticators: [passkey.register()] })
  const consensus = `approvers.any(user, user.id == '${userId}')`
  const policy = { policyName: name, effect: 'EFFECT_ALLOW', consensus, condition: "activity.resource == 'USER'" }
  const { policyId } = await complete(root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', policy)
  const add: MfaUser['add'] = (order, methods, when) =>
    complete(root, 'ACTIVITY_TYPE_CREATE_MFA_POLICY', {
      userId,
      mfaPolicyName: `${name}-${order}`,
      condition: when,
      requiredAuthenticationMethods: methods.map((any) => ({ any })),
      order,
    })
  if (steps.length > 0) await add(5, steps, condition)
  const byPasskey = stage.by((text) => ({ 'x-stamp-webauthn': passkey.stamp(text) }))
  return {
    userId,
    client,
    privateKey,
    passkey,
    byPasskey,
    policyId,
    add,
    approveByPasskey: async (fingerprint) =>
      activityOf(await byPasskey.submit('ACTIVITY_TYPE_APPROVE_ACTIVITY', { fingerprint })),
  }
}
