import { type MfaPolicy, methodWord } from '../../authority/index.ts'
import { formatAddress } from '../address.ts'
import type { Resource, Value } from '../model.ts'
import { isPlainRecord, listOf } from '../value.ts'
import { recordsOf, takeInteger, takeOptionalText, takeText, type WireRecord } from './record.ts'

const PREFIX = 'AUTHENTICATION_TYPE_'
const METHODS = 'requiredAuthenticationMethods'

/** An MFA policy out of its user's record. */
export function fromWire(record: WireRecord, user: Resource): Resource {
  const name = takeText(record, 'mfaPolicyName', 'MFA policy')
  const steps = recordsOf(record, METHODS).map((step) =>
    recordsOf(step, 'any').map((method): Value => {
      const type = takeText(method, 'type', 'method of an MFA policy')
      const id = takeOptionalText(method, 'id', 'method of an MFA policy')
      return normalMethod({ type: methodWord(type), ...(id === undefined ? {} : { id }) })
    }),
  )
  return {
    address: formatAddress('mfaPolicy', user.name, name),
    kind: 'mfaPolicy',
    name,
    parent: user.address,
    ...(user.id === undefined ? {} : { parentId: user.id }),
    id: takeText(record, 'mfaPolicyId', 'MFA policy'),
    fields: {
      name,
      condition: takeText(record, 'condition', 'MFA policy'),
      [METHODS]: steps,
      order: takeInteger(record, 'order', 'MFA policy'),
      notes: takeOptionalText(record, 'notes', 'MFA policy') ?? '',
    },
  }
}

/** The one form of a step: a list of methods, those without an id by their word alone. */
export function normalStep(step: Value): Value {
  return Array.isArray(step) ? step.map(normalMethod) : [normalMethod(step)]
}

function normalMethod(method: Value): Value {
  return isPlainRecord(method) && Object.keys(method).join() === 'type' ? method['type']! : method
}

/** The parameters of `create_mfa_policy`. */
export function toIntent(policy: Resource): Value {
  const { condition, order, notes = '' } = policy.fields
  return {
    userId: { $ref: policy.parent! },
    mfaPolicyName: policy.name,
    condition: condition!,
    [METHODS]: toWireSteps(policy),
    order: order!,
    notes,
  }
}

/** The parameters of `update_mfa_policy`: what differs and nothing else. */
export function toUpdateIntent(live: Resource, policy: Resource, fields: readonly string[]): Value {
  const { condition, order, notes = '' } = policy.fields
  return {
    userId: live.parentId!,
    mfaPolicyId: live.id!,
    ...(fields.includes('name') ? { mfaPolicyName: policy.name } : {}),
    ...(fields.includes('condition') ? { condition: condition! } : {}),
    ...(fields.includes(METHODS) ? { [METHODS]: toWireSteps(policy) } : {}),
    ...(fields.includes('order') ? { order: order! } : {}),
    ...(fields.includes('notes') ? { notes } : {}),
  }
}

/** The policy as authority reads it. */
export function toMfaPolicy(policy: Resource): MfaPolicy {
  const { condition, order } = policy.fields
  const steps = listOf(policy.fields[METHODS]).map((step) => listOf(step).map(toWireMethod))
  return { id: policy.id!, condition: String(condition), order: Number(order), steps }
}

/** The steps as the API has them. */
function toWireSteps({ fields }: Resource): Value {
  return listOf(fields[METHODS]).map((step) => ({ any: listOf(step).map(toWireMethod) }))
}

function toWireMethod(method: Value): { readonly type: string; readonly id?: string } {
  if (!isPlainRecord(method)) return { type: wireType(String(method)) }
  const { type, id } = method
  return { type: wireType(String(type)), ...(id === undefined ? {} : { id: String(id) }) }
}

function wireType(word: string): string {
  return `${PREFIX}${word.toUpperCase().replaceAll('-', '_')}`
}
