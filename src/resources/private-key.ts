import { addressFormatByName, addressFormatRow, addressFormats, curveByName, curves } from '../chain/index.ts'
import type { ActivityTemplate, ChangeInput, FieldProblem, ResourceKind } from './kind.ts'
import type { Resource, Value } from './model.ts'
import { isReference, listOf, sameValue } from './value.ts'
import * as wire from './wire/private-key.ts'
import { recordsOf } from './wire/record.ts'

const CURVE_NAMES = Object.values(curves).map(({ name }) => name)
const FORMAT_NAMES = Object.values(addressFormats).map(({ name }) => name)
const FIXED = 'a private key keeps it for life; make another key beside it'

function checkFormats({ fields: { curve, formats } }: Resource): readonly FieldProblem[] {
  const wireCurve = curveByName(String(curve))
  if (!wireCurve) return []
  return listOf(formats).flatMap((format, index): readonly FieldProblem[] => {
    const wireFormat = addressFormatByName(String(format))
    if (!wireFormat || addressFormatRow(wireFormat).curves.includes(wireCurve)) return []
    const fitting = addressFormatRow(wireFormat).curves.map((one) => `\`${curves[one].name}\``)
    const message = `format \`${String(format)}\` needs curve ${fitting.join(' or ')}, got \`${String(curve)}\``
    return [{ field: 'formats', at: [index], code: 'resources/curve-does-not-fit', message }]
  })
}

/** A tag that one key gains or loses: what a part of its update is. */
interface Tagging {
  readonly tag: Value
  readonly gained: boolean
}

/**
 * The API changes the tags of a key through the tag, one activity a tag; keys that gain or lose the same tag share it.
 */
function taggings({ desired, actual }: ChangeInput): readonly Pick<ChangeInput, 'fields' | 'part'>[] {
  const wanted = listOf(desired?.fields['tags'])
  const carried = listOf(actual?.fields['tags'])
  const missing = (from: readonly Value[], among: readonly Value[]) =>
    from.filter((one) => !among.some((other) => sameValue(one, other, 'exact')))
  const parts = [
    ...missing(wanted, carried).map((tag) => ({ tag, gained: true })),
    ...missing(carried, wanted).map((tag) => ({ tag, gained: false })),
  ]
  return parts.map((part) => ({ fields: ['tags'], part }))
}

/** An update of a private key is always one of `taggings`. */
const taggingOf = ({ part }: ChangeInput): Tagging => part as unknown as Tagging

function retag(change: ChangeInput): ActivityTemplate {
  const { tag } = taggingOf(change)
  return {
    type: 'ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG',
    carries: { about: isReference(tag) ? tag.$ref : String(tag) },
    parameters: (changes) => {
      const ids = (gained: boolean) =>
        changes.filter((one) => taggingOf(one).gained === gained).map(({ actual }) => actual!.id!)
      return { privateKeyTagId: tag, addPrivateKeyIds: ids(true), removePrivateKeyIds: ids(false) }
    },
  }
}

/** A key outside any wallet. It never leaves the service; what signs with it is its id or one of its addresses. */
export const privateKey: ResourceKind = {
  kind: 'privateKey',
  one: 'private key',
  many: 'private keys',
  // The API has no activity that renames one.
  form: { key: 'privateKeys', shape: 'map' },
  fields: {
    name: { compare: 'exact', meaning: 'Its name.', immutable: FIXED },
    curve: {
      compare: 'exact',
      meaning: 'The curve of the key.',
      immutable: FIXED,
      required: true,
      schema: { enum: CURVE_NAMES },
    },
    formats: {
      compare: 'set',
      meaning: 'The forms of its addresses, and with them the chains. Left out: none, or those that it has.',
      immutable: FIXED,
      schema: {
        type: 'array',
        items: { title: 'an address format such as `ethereum`', enum: FORMAT_NAMES },
      },
    },
    tags: {
      compare: 'set',
      meaning:
        'The tags it carries. Written, these and no others; never written, they are not managed; taken out again, none.',
      cleared: [],
      names: 'privateKeyTag',
      schema: { type: 'array', items: { type: 'string' } },
    },
    withoutExport: {
      compare: 'never',
      meaning: 'With `delete`: delete it although it was never exported. What it holds is lost.',
      schema: { const: true },
    },
  },
  referable: true,
  deleteNeedsTombstone: true,
  irreplaceable: 'the key goes with it, so that a new one has other addresses',
  rides: false,
  changedBy: [
    'CREATE_PRIVATE_KEYS',
    'IMPORT_PRIVATE_KEY',
    'UPDATE_PRIVATE_KEY_TAG',
    'DISABLE_PRIVATE_KEY',
    'DELETE_PRIVATE_KEYS',
  ],
  identity: ({ name }) => name,
  check: checkFormats,
  read: {
    query: 'list_private_keys',
    from: (answer) => recordsOf(answer, 'privateKeys').map(wire.fromWire),
  },
  create: {
    type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2',
    carries: 'all',
    parameters: (changes) => ({ privateKeys: changes.map(({ desired }) => wire.toIntent(desired!)) }),
    produces: (changes) =>
      changes.map(({ desired }, index) => ({
        address: desired!.address,
        at: ['createPrivateKeysResultV2', 'privateKeys', index, 'privateKeyId'],
      })),
  },
  update: retag,
  split: taggings,
  remove: {
    type: 'ACTIVITY_TYPE_DELETE_PRIVATE_KEYS',
    // One at a time, so that leave to delete one without export is never leave for another.
    carries: 'one',
    parameters: ([change]) => ({
      privateKeyIds: [change!.actual!.id!],
      ...(change!.desired?.fields['withoutExport'] === true ? { deleteWithoutExport: true } : {}),
    }),
  },
  // A tag takes a key into ALLOW and DENY policies alike, so which way a change of it works is unknown.
  power: (_change, action) => (action === 'update' ? 'loosens' : 'neutral'),
}
