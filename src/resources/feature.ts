import { suggest } from '../diagnostics/index.ts'
import type { FieldProblem, ResourceKind } from './kind.ts'
import type { Resource } from './model.ts'

/**
 * The features of an organization (docs/protocol/organizations.md#features). `value` says whether one needs a value;
 * `restricts` marks the ones whose setting takes something away, so that removing them opens it again; `neutral` those
 * by which alone nobody gains or loses anything; `login` the field of a user that is a way in while the feature is set.
 */
export const FEATURES = {
  EMAIL_AUTH: { meaning: 'Log in by an e-mailed credential.', login: 'email' },
  OTP_EMAIL_AUTH: { meaning: 'Log in by a code sent by e-mail.', login: 'email' },
  SMS_AUTH: { meaning: 'Log in by a code sent by SMS.', login: 'phone' },
  EMAIL_RECOVERY: { meaning: 'Recover a user by e-mail.' },
  ROOT_USER_EMAIL_RECOVERY: { meaning: 'The old name of `EMAIL_RECOVERY`.' },
  WEBAUTHN_ORIGINS: { meaning: 'The origin that passkeys must come from; unset, any.', value: true, restricts: true },
  WEBHOOK: { meaning: 'The URL that is told of every activity.', value: true },
  AUTH_PROXY: { meaning: 'The authentication proxy.' },
  SOLANA_RENT_PREFUND_ENABLED: { meaning: 'Sponsored sends on Solana have the rent of new accounts paid in advance.' },
  SWAP_CONFIG: { meaning: 'Swaps, by their settings.' },
  EARN_CONFIG: { meaning: 'Earning, by its settings.' },
  POLICY_TIME: {
    meaning: 'Policies may say when they apply. The published API opens that by hand, without a feature.',
    neutral: true,
  },
} as const satisfies Record<
  string,
  { meaning: string; value?: true; restricts?: true; neutral?: true; login?: 'email' | 'phone' }
>

/** The feature behind `time` of policies (docs/protocol/policies.md#a-policy). */
export const POLICY_TIME = 'POLICY_TIME' satisfies FeatureShortName
export type FeatureShortName = keyof typeof FEATURES

const PREFIX = 'FEATURE_NAME_'

/** `EMAIL_AUTH` of `FEATURE_NAME_EMAIL_AUTH`; a name without the prefix is short already. */
export function shortFeatureName(name: string): string {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name
}

/** `FEATURE_NAME_EMAIL_AUTH` of `EMAIL_AUTH`. */
export function wireFeatureName(name: string): string {
  return PREFIX + shortFeatureName(name)
}

export function isFeature(shortName: string): shortName is FeatureShortName {
  return Object.hasOwn(FEATURES, shortName)
}

/** The features that let users in, each with the field of a user that it does so by. */
const LOGINS = Object.entries(FEATURES).flatMap(([name, row]) => ('login' in row ? [[name, row.login] as const] : []))

/**
 * The features by any one of which a user of these fields logs in without a credential
 * (docs/protocol/organizations.md#ways-in).
 */
export function loginFeaturesOf(fields: Resource['fields']): readonly string[] {
  return LOGINS.filter(([, field]) => fields[field]).map(([name]) => name)
}

/** Whether setting it takes something away. */
function restricts(name: string): boolean {
  return isFeature(name) && 'restricts' in FEATURES[name]
}

const set = {
  type: 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE',
  carries: 'one',
  parameters: ([change]) => ({
    name: wireFeatureName(change!.desired!.name),
    value: change!.desired!.fields['value'] ?? '',
  }),
} as const satisfies ResourceKind['create']

function checkFeature({ name, fields, tombstone }: Resource): readonly FieldProblem[] {
  if (!isFeature(name)) {
    const [near] = suggest(name, Object.keys(FEATURES))
    const help = near ? `did you mean \`${near}\`?` : `the features are ${Object.keys(FEATURES).join(', ')}`
    return [{ code: 'resources/unknown-feature', message: `\`${name}\` is no feature of the API`, help }]
  }
  if ('value' in FEATURES[name] && !tombstone && !fields['value']) {
    return [
      {
        code: 'resources/feature-without-value',
        message: `feature \`${name}\` needs a value, got none`,
        help: FEATURES[name].meaning,
      },
    ]
  }
  return []
}

/** A feature that is set. It has no id; its name stands for it. `true` in a definition manages no value. */
export const feature: ResourceKind = {
  kind: 'feature',
  one: 'feature',
  many: 'features',
  form: { key: 'features', shape: 'values', nameOf: shortFeatureName },
  fields: {
    value: {
      compare: 'exact',
      meaning: 'Its value; `true` sets it without one; `false` removes it.',
      cleared: '',
      schema: { type: ['string', 'boolean'] },
    },
  },
  referable: false,
  deleteNeedsTombstone: false,
  rides: false,
  changedBy: ['SET_ORGANIZATION_FEATURE', 'REMOVE_ORGANIZATION_FEATURE'],
  identity: ({ name }) => name,
  check: checkFeature,
  create: set,
  update: () => set,
  remove: {
    type: 'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE',
    carries: 'one',
    parameters: ([change]) => ({ name: wireFeatureName(change!.actual!.name) }),
  },
  power: ({ desired, actual }, action) => {
    const name = (desired ?? actual)!.name
    if (isFeature(name) && 'neutral' in FEATURES[name]) return 'neutral'
    if (action === 'update') return 'loosens'
    return (action === 'create') === restricts(name) ? 'tightens' : 'loosens'
  },
}
