import { TOKEN_PROGRAMS } from '../chain/index.ts'
import { type JsonSchema, KINDS, kinds, type ResourceKind } from '../resources/index.ts'
import { EARLY_ACCESS } from './early-access.ts'
import { NOTICE_TOPICS, NOTICE_VARIABLE } from './notify.ts'

/** Kinds whose undeclared resources a definition may ask to delete, by the key of their section. */
export const MANAGEABLE = KINDS.filter((kind) => kinds[kind].remove && kinds[kind].form.shape !== 'folder')

const LIMIT: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    deletes: { type: 'string', title: 'a share such as `10%`', pattern: '^(100|[1-9]?[0-9])%$' },
  },
  required: ['deletes'],
}

/** What can be done about a kind that is not as defined. */
export const MODES = ['ignore', 'report', 'propose', 'repair'] as const

const DURATION: JsonSchema = {
  type: 'string',
  title: 'a time such as `30s`, `5m` or `1h`',
  pattern: '^[1-9][0-9]{0,5}[smhd]$',
}

const TIME_OF_DAY: JsonSchema = {
  type: 'string',
  title: 'a time of day such as `22:00`',
  pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
}

const NOTICE_URL: JsonSchema = {
  type: 'string',
  title: 'the name of a variable that begins with `QUORATE_NOTIFY_`',
  pattern: NOTICE_VARIABLE.source,
}

/** Where messages go: the URL and what signs are the worker's to know. */
const NOTICE_SINK: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    slack: {
      ...NOTICE_URL,
      description: 'The variable of the worker that has the URL of an incoming webhook of Slack.',
    },
    webhook: {
      ...NOTICE_URL,
      description:
        'The variable of the worker that has the URL of a webhook; the variable of the same name with `_KEY` has the key that signs what is sent.',
    },
    email: {
      type: 'string',
      title: 'an e-mail address',
      pattern: '^[^@\\s<>,;]{1,64}@[^@\\s<>,;]{1,190}$',
      description:
        'An e-mail address. The worker has its mail server in `QUORATE_NOTIFY_SMTP` and the sender in `QUORATE_NOTIFY_FROM`.',
    },
    about: {
      type: 'array',
      description: 'What it is told of. Left out: everything.',
      items: { enum: NOTICE_TOPICS },
    },
    user: {
      type: 'string',
      minLength: 1,
      description:
        'The user who reads it, by their name in these definitions or by their id: what they have approved already does not wait for them. It is told as without `user` until the lock knows the name.',
    },
    quiet: {
      type: 'object',
      description: 'Hours in which nothing is sent; what is still so afterwards is sent then.',
      additionalProperties: false,
      properties: {
        from: { ...TIME_OF_DAY, description: 'When they begin.' },
        to: { ...TIME_OF_DAY, description: 'When they end; before `from`, on the next day.' },
        zone: { type: 'string', description: 'Their time zone, such as `Europe/Berlin`. Left out: `UTC`.' },
      },
      required: ['from', 'to'],
    },
  },
}

const ADDRESS: JsonSchema = {
  type: 'string',
  title:
    'an address such as `0x52908400098527886E0F7030069857D2E4169EE7`, or on Solana `HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk`',
  pattern: '^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$',
}

const ASSET: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    chain: {
      type: 'string',
      title: 'a chain in CAIP-2 form such as `eip155:1` or `solana:mainnet`',
      pattern: '^(eip155:[1-9][0-9]{0,31}|solana:(mainnet|devnet|[1-9A-HJ-NP-Za-km-z]{32,44}))$',
      description: 'The chain that the token is on, in CAIP-2 form.',
    },
    address: { ...ADDRESS, description: 'The address of its contract (ERC-20), or of its mint on Solana.' },
    decimals: {
      type: 'integer',
      minimum: 0,
      maximum: 36,
      description:
        'How many decimals one of it has, as its contract or its mint says: 6 for USD Coin, 18 for most on Ethereum.',
    },
    symbol: {
      type: 'string',
      title: 'letters and digits that begin with a letter',
      pattern: '^[A-Za-z][A-Za-z0-9]{0,31}$',
      description: 'How it is written after an amount. Left out: its name.',
    },
    program: {
      enum: Object.keys(TOKEN_PROGRAMS),
      description: 'On Solana, the program that its mint is of. Left out: `token`.',
    },
  },
  required: ['chain', 'address', 'decimals'],
}

/**
 * The JSON Schema (2020-12) of one file of definitions, made from the rows of the kinds. Nothing at the top is required:
 * an organization may be spread over several files.
 */
export function makeSchema(): JsonSchema {
  const sections = KINDS.filter((kind) => !kinds[kind].parent && kinds[kind].form.shape !== 'folder').map((kind) => [
    kinds[kind].form.key,
    section(kinds[kind]),
  ])
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $comment: 'Generated from src/resources by src/definitions/generate.ts.',
    title: 'quorate definitions',
    description: 'One organization, or a part of one. The order of files and keys never matters.',
    type: ['object', 'null'],
    additionalProperties: false,
    properties: {
      organization: {
        type: 'string',
        minLength: 1,
        description: 'What the organization is called in these files and in what is shown.',
      },
      id: { type: 'string', description: 'The id of the organization, usually `${env.…}`.' },
      variables: {
        type: ['array', 'null'],
        description:
          'The environment variables that these definitions refer to by `${env.NAME}`, but for that of `id`. None may be the name of a secret: plans hold what definitions say.',
        items: { type: 'string', title: 'the name of a variable', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' },
      },
      vars: {
        type: ['object', 'null'],
        description: 'Values of `${var.…}` where none are given with --var.',
        additionalProperties: { type: 'string' },
      },
      earlyAccess: {
        type: ['array', 'null'],
        description: `What the API has opened to this organization. ${Object.entries(EARLY_ACCESS)
          .map(([name, meaning]) => `\`${name}\`: ${meaning}`)
          .join(' ')}`,
        items: { enum: Object.keys(EARLY_ACCESS) },
      },
      manage: {
        type: ['object', 'null'],
        description:
          'Kinds of which everything live and undeclared is deleted. Of other kinds only what was defined here before, as the lock says.',
        additionalProperties: false,
        properties: Object.fromEntries(MANAGEABLE.map((kind) => [kinds[kind].form.key, { const: 'all' }])),
      },
      limits: {
        type: ['object', 'null'],
        description: 'Of each kind, the largest share that one plan may delete without a bypass. Left out: 30 %.',
        additionalProperties: false,
        properties: Object.fromEntries(MANAGEABLE.map((kind) => [kinds[kind].form.key, LIMIT])),
      },
      watch: {
        type: ['object', 'null'],
        description: 'How `quorate watch` looks at the organization, and what it does about what is not as defined.',
        additionalProperties: false,
        properties: {
          every: { ...DURATION, description: 'How often it is looked at. Left out: `1m`.' },
          sweep: {
            ...DURATION,
            description: 'How often all of it is read although no activity is new. Left out: `1h`.',
          },
          kinds: {
            type: ['object', 'null'],
            description:
              'What is done about each kind: `ignore` it, `report` it, `propose` a plan that puts it back, or `repair` it by applying that plan. Left out: `report`.',
            additionalProperties: false,
            properties: Object.fromEntries(KINDS.map((kind) => [kinds[kind].form.key, { enum: MODES }])),
          },
          notify: {
            type: ['object', 'null'],
            description: 'Who is told of what, by names of your own: by Slack, by a signed webhook, or by e-mail.',
            additionalProperties: NOTICE_SINK,
          },
        },
      },
      forget: {
        type: ['array', 'null'],
        description:
          'Addresses, such as `user.bob`, of what was defined here once and is handed back: it stays live, with what it holds, and is managed no longer.',
        items: { type: 'string', title: 'an address such as `user.bob`' },
      },
      addressBook: {
        type: ['object', 'null'],
        description:
          'Names of those who are paid with `quorate send`, and their addresses on Ethereum or Solana. Nothing of it is live.',
        additionalProperties: ADDRESS,
      },
      assets: {
        type: ['object', 'null'],
        description:
          'Names of tokens that are paid with `quorate send --asset`, each on one chain. Nothing of it is live.',
        additionalProperties: ASSET,
      },
      ...Object.fromEntries(sections),
      ...SUB_ORGANIZATION,
      each: {
        type: ['object', 'null'],
        description:
          'In a nested folder: one sub-organization for each of these, by name, out of the same definitions. Its values are those of `${var.…}`; `${var.organization}` is its name.',
        additionalProperties: {
          type: ['object', 'null'],
          properties: SUB_ORGANIZATION,
          additionalProperties: { type: 'string' },
        },
      },
    },
  }
}

/** The keys of a sub-organization about itself, in its folder or in `each` (`FOLDER_KEYS`). */
const SUB_ORGANIZATION = {
  renamedFrom: {
    type: 'string',
    description: 'In a nested folder: the former name of the sub-organization, while the rename is applied.',
  },
  delete: { const: true, description: 'In a nested folder: delete the live sub-organization.' },
  withoutExport: {
    const: true,
    description:
      'With `delete` in a nested folder: delete it although not all of its keys were exported. What they hold is lost.',
  },
} as const satisfies Readonly<Record<string, JsonSchema>>

function section(kind: ResourceKind): JsonSchema {
  const description = `The ${kind.form.shape === 'one' || kind.form.shape === 'value' ? kind.one : kind.many}.`
  const { shape } = kind.form
  const [single] = Object.values(kind.fields)
  if (shape === 'value') return { ...single!.schema, description: single!.meaning }
  if (shape === 'one') return { ...fieldsOf(kind), description }
  if (shape === 'values') {
    const value = { ...single!.schema, description: single!.meaning }
    return { type: ['object', 'null'], description, additionalProperties: value }
  }
  if (shape === 'list') return { type: ['array', 'null'], description, items: fieldsOf(kind) }
  return { type: ['object', 'null'], description, additionalProperties: fieldsOf(kind) }
}

/** The schema of one resource: its fields, the kinds it holds, and the words that every definition knows. */
function fieldsOf(kind: ResourceKind): JsonSchema {
  const written = Object.entries(kind.fields).filter(([, row]) => row.schema)
  const required = written.filter(([, row]) => row.required).map(([name]) => name)
  const children = KINDS.map((name) => kinds[name]).filter(({ parent }) => parent === kind.kind)
  const properties = Object.fromEntries<JsonSchema>([
    ...written.map(([name, row]): [string, JsonSchema] => [name, { ...row.schema, description: row.meaning }]),
    ...children.map((child): [string, JsonSchema] => [child.form.key, section(child)]),
    ...(kind.remove
      ? [['delete', { const: true, description: `Delete the live ${kind.one}.` }] as [string, JsonSchema]]
      : []),
    ...(kind.form.renamable
      ? [
          ['renamedFrom', { type: 'string', description: 'Its former name, while the rename is applied.' }] as [
            string,
            JsonSchema,
          ],
        ]
      : []),
  ])
  const shape = { type: required.length > 0 ? 'object' : ['object', 'null'], additionalProperties: false, properties }
  if (required.length === 0) return shape
  // A tombstone needs no more than what tells the resource from others; for one in a list or of a parent, that is its fields,
  // unless its name tells it.
  const toldByFields = kind.parent && kind.form.shape !== 'one' && !kind.form.renamable
  if (toldByFields || !kind.remove) return { ...shape, required }
  return { ...shape, if: { properties: { delete: { const: true } }, required: ['delete'] }, else: { required } }
}
