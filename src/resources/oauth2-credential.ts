import { sha256 } from '@noble/hashes/sha2.js'
import { decodeHex, encodeHex, encodeUtf8, isHex } from '../encoding/index.ts'
import type { FieldProblem, ResourceKind } from './kind.ts'
import type { Resource, Value } from './model.ts'
import * as wire from './wire/oauth2-credential.ts'
import { recordsOf } from './wire/record.ts'

/**
 * Borsh (docs/protocol/bundles.md#oauth-20-client-secrets): 12 bytes of nonce, an uncompressed P-256 point, a length,
 * the message with its tag.
 */
const HEAD = 12 + 65
const TAG = 16

/** An envelope has its own length in it, so that anything else, a secret in clear above all, is told from one. */
function checkSecret({ fields: { encryptedClientSecret } }: Resource): readonly FieldProblem[] {
  if (typeof encryptedClientSecret !== 'string' || isEnvelope(encryptedClientSecret)) return []
  return [
    {
      field: 'encryptedClientSecret',
      code: 'resources/bad-encrypted-secret',
      // The message does not show the value: it may be the secret itself.
      message: "expected the client secret in hex, encrypted to the service's key; got something else",
      help: 'encrypt it as the API asks, and give the result by `${env.…}`; what is not encrypted is a secret no more',
    },
  ]
}

function isEnvelope(text: string): boolean {
  if (!isHex(text)) return false
  const bytes = decodeHex(text)
  if (bytes.length < HEAD + 4 + TAG || bytes[12] !== 0x04) return false
  const length = new DataView(bytes.buffer, bytes.byteOffset + HEAD, 4).getUint32(0, true)
  return length === bytes.length - HEAD - 4
}

/** A client at a provider that knows OAuth 2.0 and no OIDC. The API gives it no name; the name is that of definitions. */
export const oauth2Credential: ResourceKind = {
  kind: 'oauth2Credential',
  one: 'OAuth 2.0 credential',
  many: 'OAuth 2.0 credentials',
  form: { key: 'oauth2Credentials', shape: 'map' },
  fields: {
    provider: {
      compare: 'exact',
      meaning: 'The provider.',
      required: true,
      schema: { enum: ['x', 'discord'] },
    },
    clientId: {
      compare: 'exact',
      meaning: 'The id that the provider gave to the client.',
      required: true,
      schema: { type: 'string', minLength: 1 },
    },
    encryptedClientSecret: {
      compare: 'case-insensitive',
      meaning: "The client's secret, encrypted to the service's key, in hex; usually `${env.…}`.",
      required: true,
      schema: { type: 'string', minLength: 1 },
      normal: (text) => (typeof text === 'string' ? text.toLowerCase() : text),
      brief: (text: Value) => `sha256:${encodeHex(sha256(encodeUtf8(String(text))))}`,
    },
  },
  referable: true,
  deleteNeedsTombstone: false,
  rides: false,
  changedBy: ['CREATE_OAUTH2_CREDENTIAL', 'UPDATE_OAUTH2_CREDENTIAL', 'DELETE_OAUTH2_CREDENTIAL'],
  identity: ({ fields: { provider, clientId } }) => JSON.stringify([provider, clientId]),
  check: checkSecret,
  read: {
    query: 'list_oauth2_credentials',
    from: (answer) => recordsOf(answer, 'oauth2Credentials').map(wire.fromWire),
  },
  create: {
    type: 'ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL',
    carries: 'one',
    parameters: ([change]) => wire.toIntent(change!.desired!),
    produces: ([change]) => [
      { address: change!.desired!.address, at: ['createOauth2CredentialResult', 'oauth2CredentialId'] },
    ],
  },
  update: () => ({
    type: 'ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL',
    carries: 'one',
    parameters: ([change]) => ({ oauth2CredentialId: change!.actual!.id!, ...wire.toIntent(change!.desired!) }),
  }),
  remove: {
    type: 'ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL',
    carries: 'one',
    parameters: ([change]) => ({ oauth2CredentialId: change!.actual!.id! }),
  },
  // The holder of the client's secret can have tokens issued for any of its users.
  power: (_change, action) => (action === 'delete' ? 'tightens' : 'loosens'),
}
