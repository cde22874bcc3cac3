import { loginFacts } from '../authority/index.ts'
import type { ResourceKind } from './kind.ts'

const FIXED = 'a provider keeps it for life; its user registers another one, then this one is deleted'

/**
 * Who a user is at an OIDC issuer: issuer, audience and subject together. To register one takes a token of the issuer,
 * which lets its holder in, and so no definition, plan or history may hold one: its user registers it, or the application
 * that signs users up. Definitions compare live providers, and delete them.
 */
export const oauthProvider: ResourceKind = {
  kind: 'oauthProvider',
  one: 'OAuth provider',
  many: 'OAuth providers',
  parent: 'user',
  form: { key: 'oauthProviders', shape: 'map' },
  fields: {
    issuer: {
      compare: 'exact',
      meaning: 'The issuer of the tokens, e.g. `https://accounts.google.com`.',
      immutable: FIXED,
      required: true,
      schema: { type: 'string', title: 'the https address of an issuer', pattern: '^https://\\S+$|\\$\\{' },
    },
    audience: {
      compare: 'exact',
      meaning: 'The client id that tokens are issued to.',
      immutable: FIXED,
      required: true,
      schema: { type: 'string', minLength: 1 },
    },
    subject: {
      compare: 'exact',
      meaning: 'Who the user is to the issuer.',
      immutable: FIXED,
      required: true,
      schema: { type: 'string', minLength: 1 },
    },
  },
  referable: false,
  deleteNeedsTombstone: false,
  rides: false,
  changedBy: ['CREATE_OAUTH_PROVIDERS', 'DELETE_OAUTH_PROVIDERS', 'DELETE_USERS'],
  identity: ({ fields: { issuer, audience, subject } }) => JSON.stringify([issuer, audience, subject]),
  uncreatable: () => 'it takes a token of the issuer, which only its user has; have them register it',
  remove: {
    type: 'ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS',
    carries: 'parent',
    parameters: (changes) => ({
      userId: changes[0]!.actual!.parentId!,
      providerIds: changes.map(({ actual }) => actual!.id!),
    }),
  },
  power: (_change, action) => (action === 'delete' ? 'tightens' : 'loosens'),
  credential: {
    field: 'subject',
    words: 'issuer, audience and subject',
    // Who comes from a provider votes with a key of the session that they are given.
    facts: ({ parentId }) => loginFacts(parentId!, 'oauth'),
  },
}
