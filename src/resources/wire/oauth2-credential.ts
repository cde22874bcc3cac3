import { formatAddress } from '../address.ts'
import type { Resource, Value } from '../model.ts'
import { takeText, type WireRecord } from './record.ts'

const PREFIX = 'OAUTH2_PROVIDER_'

/** An OAuth 2.0 credential out of the list of them. It has no name, so it is shown by its provider and client. */
export function fromWire(record: WireRecord): Resource {
  const what = 'OAuth 2.0 credential'
  const wireProvider = takeText(record, 'provider', what)
  const provider = wireProvider.startsWith(PREFIX) ? wireProvider.slice(PREFIX.length).toLowerCase() : wireProvider
  const clientId = takeText(record, 'clientId', what)
  const name = `${provider} ${clientId}`
  return {
    address: formatAddress('oauth2Credential', name),
    kind: 'oauth2Credential',
    name,
    id: takeText(record, 'oauth2CredentialId', what),
    fields: {
      provider,
      clientId,
      encryptedClientSecret: takeText(record, 'encryptedClientSecret', what).toLowerCase(),
    },
  }
}

/** The parameters of `create_oauth2_credential`, and of its update beside the id. */
export function toIntent(credential: Resource): { readonly [member: string]: Value } {
  const { provider, clientId, encryptedClientSecret } = credential.fields
  return {
    provider: `${PREFIX}${String(provider).toUpperCase()}`,
    clientId: clientId!,
    encryptedClientSecret: encryptedClientSecret!,
  }
}
