import { passkeyFacts } from '../authority/index.ts'
import type { FieldProblem, ResourceKind } from './kind.ts'
import type { Resource } from './model.ts'
import { isPlainRecord, listOf } from './value.ts'
import * as wire from './wire/authenticator.ts'

const FIXED = 'a passkey keeps it for life; register another one beside it, then delete this one'
const MOST = 256
const BASE64URL = '^[A-Za-z0-9_-]+$|\\$\\{'

function checkAuthenticator({ fields: { challenge, attestation } }: Resource): readonly FieldProblem[] {
  const problems: FieldProblem[] = []
  if (attestation !== undefined && challenge === undefined) {
    const message = 'an attestation without the challenge that it answers cannot be registered'
    const help = 'write the challenge that was given to the authenticator under `challenge:`'
    problems.push({ field: 'attestation', code: 'resources/incomplete-attestation', message, help })
  }
  if (attestation !== undefined && isPlainRecord(attestation)) {
    listOf(attestation['transports']).forEach((transport, index) => {
      if (typeof transport !== 'string' || wire.TRANSPORTS.some((known) => known === transport)) return
      const message = `expected a transport such as \`internal\`, got \`${transport}\``
      const help = `one of ${wire.TRANSPORTS.join(', ')}`
      problems.push({
        field: 'attestation',
        at: ['transports', index],
        code: 'resources/incomplete-attestation',
        message,
        help,
      })
    })
  }
  return problems
}

/** A passkey of a user. Its credential id tells it from others; its name is a label. */
export const authenticator: ResourceKind = {
  kind: 'authenticator',
  one: 'authenticator',
  many: 'authenticators',
  parent: 'user',
  form: { key: 'authenticators', shape: 'map' },
  fields: {
    credentialId: {
      compare: 'exact',
      meaning: 'The id of the passkey, base64url.',
      immutable: FIXED,
      required: true,
      schema: { type: 'string', title: 'a credential id in base64url', pattern: BASE64URL, maxLength: MOST },
    },
    challenge: {
      compare: 'never',
      meaning: 'The challenge that the attestation answers; used when it is registered.',
      schema: { type: 'string', minLength: 1, maxLength: MOST },
    },
    attestation: {
      compare: 'never',
      meaning: 'What the authenticator said when the passkey was made; used when it is registered.',
      schema: {
        type: 'object',
        additionalProperties: false,
        required: ['clientDataJson', 'attestationObject'],
        properties: {
          clientDataJson: { type: 'string', title: 'base64url', pattern: BASE64URL },
          attestationObject: { type: 'string', title: 'base64url', pattern: BASE64URL },
          transports: { type: 'array', items: { type: 'string' } },
        },
      },
    },
  },
  referable: false,
  deleteNeedsTombstone: false,
  rides: true,
  changedBy: ['CREATE_AUTHENTICATORS', 'RECOVER_USER', 'DELETE_AUTHENTICATORS', 'DELETE_USERS'],
  identity: ({ fields }) => String(fields['credentialId']),
  check: checkAuthenticator,
  uncreatable: ({ fields }) =>
    fields['attestation'] === undefined
      ? 'only its user can register a passkey; have them do it, or write the `attestation` and `challenge` of one that they made'
      : undefined,
  create: {
    type: 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2',
    carries: 'parent',
    parameters: (changes) => ({
      userId: { $ref: changes[0]!.desired!.parent! },
      authenticators: changes.map(({ desired }) => wire.toIntent(desired!)),
    }),
    produces: (changes) =>
      changes.map(({ desired }, index) => ({
        address: desired!.address,
        at: ['createAuthenticatorsResult', 'authenticatorIds', index],
      })),
  },
  remove: {
    type: 'ACTIVITY_TYPE_DELETE_AUTHENTICATORS',
    carries: 'parent',
    parameters: (changes) => ({
      userId: changes[0]!.actual!.parentId!,
      authenticatorIds: changes.map(({ actual }) => actual!.id!),
    }),
  },
  power: (_change, action) => (action === 'delete' ? 'tightens' : 'loosens'),
  credential: {
    field: 'credentialId',
    words: 'credential id',
    facts: ({ id, parentId, known, fields: { credentialId } }) =>
      passkeyFacts({
        id: id!,
        userId: parentId!,
        credentialId: String(credentialId),
        publicKey: known?.publicKey,
      }),
  },
}
