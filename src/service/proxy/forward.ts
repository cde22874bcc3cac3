/** Stamps what a proxy asks for with the key of its organization, and reads the answer. */
import { encodeUtf8 } from '../../encoding/index.ts'
import {
  type ActivityIntents,
  type ActivityResults,
  type ActivityType,
  activities,
  type JsonObject,
  type QueryName,
  type QueryTypes,
  queries,
} from '../../protocol/index.ts'
import { stampAndWipe } from '../../stamp/index.ts'
import { authProxyKeyPlace, type Sealing } from '../keys/index.ts'
import { authProxyRefusals } from '../readings.ts'
import type { NamedAuthProxy } from '../resources/auth-proxy/store.ts'
import { toApiError, type Upstream } from './upstream.ts'

/** What came of a submit. */
export interface Forwarded<Result> {
  readonly result: Result
  readonly appProofs?: readonly JsonObject[]
}

/** Speaks for the proxy's user of one organization. Both throw `ApiError`. */
export interface Forwarder {
  submit<Type extends ActivityType>(
    type: Type,
    parameters: ActivityIntents[Type],
    options?: { readonly organizationId?: string; readonly generateAppProofs?: boolean },
  ): Promise<Forwarded<ActivityResults[Type]>>
  query<Name extends QueryName>(name: Name, request: object): Promise<QueryTypes[Name]['response']>
}

export interface ForwardTools {
  readonly upstream: Upstream
  readonly unseal: Sealing['unseal']
  readonly clock: () => number
}

/** Creates what makes forwarders. No two bodies of it are equal: one that was sent before would be a vote. */
export function createForwarding({ upstream, unseal, clock }: ForwardTools): (proxy: NamedAuthProxy) => Forwarder {
  let last = 0
  return ({ organization_id: home, sealed_private_key: sealed, public_key: publicKey }) => {
    const send = (kind: 'submit' | 'query', path: string, content: object) => {
      const body = encodeUtf8(JSON.stringify(content))
      // Opened for this request, and wiped with it.
      const stamp = stampAndWipe(unseal(sealed!, authProxyKeyPlace(home)), publicKey!, body)
      return upstream({ kind, path, body, headers: { [stamp.name.toLowerCase()]: stamp.value } })
    }
    return {
      async submit(type, parameters, { organizationId = home, generateAppProofs } = {}) {
        last = Math.max(clock(), last + 1)
        const proofs = generateAppProofs ? { generateAppProofs } : {}
        const content = { type, timestampMs: String(last), organizationId, parameters, ...proofs }
        const { activity } = (await send('submit', activities[type].path, content)) as { activity: JsonObject }
        return readOutcome(activity, activities[type].resultKey!) as never
      },
      async query(name, request) {
        return (await send('query', queries[name].path, { organizationId: home, ...request })) as never
      },
    }
  }
}

/** The caller of the proxy can neither approve nor show another factor, so that an activity is done or refused. */
function readOutcome({ status, failure, result, appProofs }: JsonObject, resultKey: string): Forwarded<unknown> {
  if (status === 'ACTIVITY_STATUS_FAILED') throw toApiError(undefined, failure as JsonObject)
  if (status !== 'ACTIVITY_STATUS_COMPLETED') throw authProxyRefusals.needsOthers(String(status))
  const proofs = Array.isArray(appProofs) && appProofs.length > 0 ? { appProofs: appProofs as JsonObject[] } : {}
  return { result: (result as JsonObject)[resultKey], ...proofs }
}
