import type { ChangeInput, FieldProblem, FieldRow, Power, ResourceKind } from './kind.ts'
import type { Resource } from './model.ts'
import { EMAIL, orEmpty, UUID } from './published.ts'
import { listOf, sameValue } from './value.ts'
import * as wire from './wire/auth-proxy.ts'

const METHODS = ['email', 'sms', 'passkey', 'wallet', 'oauth', 'google', 'apple', 'facebook', 'x', 'discord']
const PROVIDERS = { enum: METHODS.slice(-5) }

const text = (meaning: string, schema: FieldRow['schema'] = { type: 'string' }): FieldRow => ({
  compare: 'exact',
  meaning,
  cleared: '',
  schema,
})
const flag = (meaning: string): FieldRow => ({ compare: 'exact', meaning, cleared: false, schema: { type: 'boolean' } })
const count = (meaning: string, cleared: number, minimum: number, maximum: number): FieldRow => ({
  compare: 'exact',
  meaning,
  cleared,
  schema: { type: 'integer', minimum, maximum },
})

/** Every setting (docs/protocol/auth-proxy.md#settings), by the names that definitions have for them. */
const fields = {
  origins: {
    compare: 'set',
    meaning: 'The origins whose pages may ask, exactly, such as `https://app.example.com`; `*` for any.',
    cleared: ['*'],
    schema: { type: 'array', minItems: 1, items: { type: 'string' } },
  },
  methods: {
    compare: 'set',
    meaning: 'The ways in that it offers.',
    cleared: [...wire.DEFAULT_METHODS],
    schema: { type: 'array', minItems: 1, items: { enum: METHODS } },
  },
  walletKit: {
    compare: 'exact',
    meaning: 'What wallet kits are told: providers, their client ids, and where they lead back to.',
    cleared: {},
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        enabledSocialProviders: { type: 'array', items: PROVIDERS },
        oauthClientIds: { type: 'object', additionalProperties: { type: 'string' }, propertyNames: PROVIDERS },
        oauthRedirectUrl: { type: 'string' },
      },
    },
  },
  sessionSeconds: count('How long sessions last.', 900, 1, 2_592_000),
  codeSeconds: count('How long one-time codes hold.', 300, 1, 600),
  verificationTokenSeconds: count('How long the proof of a contact holds.', 3_600, 1, 86_400),
  codeLength: count('How long one-time codes are.', 9, 6, 9),
  codeAlphanumeric: { ...flag('Whether one-time codes have letters.'), cleared: true },
  email: {
    compare: 'exact',
    meaning: 'What e-mails say.',
    cleared: {},
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries(
        ['appName', 'logoUrl', 'magicLinkTemplate', 'templateVariables', 'templateId'].map((name) => [
          name,
          { type: 'string' },
        ]),
      ),
    },
  },
  emailTemplateId: text('The template of e-mails that log in.'),
  codeTemplateId: text('The template of e-mails with a one-time code.', orEmpty(UUID)),
  smsTemplate: text('What text messages say.'),
  sendFrom: text('The address that e-mails are from.', orEmpty(EMAIL)),
  senderName: text('The name that e-mails are from.'),
  replyTo: text('The address that answers to e-mails go to.', orEmpty(EMAIL)),
  contactsNeedProof: flag('Whether looking for an account by a contact takes a proof of it.'),
  socialLinkingClientIds: {
    compare: 'set',
    meaning: 'Client ids whose logins may be linked to a user by e-mail address.',
    cleared: [],
    schema: { type: 'array', items: { type: 'string', minLength: 1 } },
  },
  captcha: flag('Whether codes and sign-ups take a captcha.'),
} as const satisfies Readonly<Record<string, FieldRow>>

function checkOrigins({ fields: { origins } }: Resource): readonly FieldProblem[] {
  return listOf(origins).flatMap((origin, index): readonly FieldProblem[] => {
    if (typeof origin !== 'string' || origin === '*' || isOrigin(origin)) return []
    const message = `expected an origin, such as \`https://app.example.com\`, got \`${origin}\``
    const help = 'write scheme, host and port as browsers do, in lower case; a part cannot be a wildcard'
    return [{ field: 'origins', at: [index], code: 'resources/bad-origin', message, help }]
  })
}

function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || text.includes('*')) return false
  return /^https?:$/.test(url.protocol) ? url.origin === text : /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+(:\d+)?$/.test(text)
}

/** Callers of the proxy gain by a change that lets them ask more, in more ways or with less proof. */
function power({ desired, actual, fields: changed }: ChangeInput, action: 'create' | 'update' | 'delete'): Power {
  if (action !== 'update') return action === 'create' ? 'loosens' : 'tightens'
  const [before, after] = [actual?.fields ?? {}, desired!.fields]
  const gains = (field: string) =>
    changed.includes(field) &&
    listOf(after[field]).some((one) => !listOf(before[field]).some((other) => sameValue(one, other, 'exact')))
  const gives = ['origins', 'methods', 'socialLinkingClientIds'].some(gains) || changed.includes('walletKit')
  const spares = ['contactsNeedProof', 'captcha'].some((field) => changed.includes(field) && after[field] === false)
  const holdsLonger = ['sessionSeconds', 'codeSeconds', 'verificationTokenSeconds'].some(
    (field) => changed.includes(field) && Number(after[field]) > Number(before[field] ?? 0),
  )
  return gives || spares || holdsLonger ? 'loosens' : 'tightens'
}

/** The authentication proxy, with all that can be set of it. It is on where it is there; its user and policy come with it. */
export const authProxy: ResourceKind = {
  kind: 'authProxy',
  one: 'authentication proxy',
  many: 'authentication proxies',
  form: { key: 'authProxy', shape: 'one' },
  fields,
  referable: false,
  deleteNeedsTombstone: false,
  rides: false,
  changedBy: ['ENABLE_AUTH_PROXY', 'UPDATE_AUTH_PROXY_CONFIG', 'UPDATE_ALLOWED_ORIGINS', 'DISABLE_AUTH_PROXY'],
  identity: () => 'authProxy',
  check: checkOrigins,
  create: {
    type: 'ACTIVITY_TYPE_ENABLE_AUTH_PROXY',
    carries: 'one',
    parameters: () => ({}),
  },
  // Enabling says nothing about settings.
  afterCreation: ({ fields: written }) => Object.keys(written),
  update: () => ({
    type: 'ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG',
    carries: 'one',
    parameters: ([change]) => wire.toIntent(change!.desired!),
  }),
  remove: { type: 'ACTIVITY_TYPE_DISABLE_AUTH_PROXY', carries: 'one', parameters: () => ({}) },
  power,
}
