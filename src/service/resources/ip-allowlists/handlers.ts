import { apiError, type Wire } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { parseBlock, printBlock } from '../../network/index.ts'
import { invalidAllowlistRule, ofParentsAlone } from '../../readings.ts'
import { findApiKeyByPublicKey } from '../../store/index.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { findOrganization } from '../organizations/store.ts'
import {
  deleteApiKeyIpAllowlist,
  deleteIpAllowlist,
  findApiKeyIpAllowlist,
  findIpAllowlist,
  replaceApiKeyIpAllowlist,
  replaceIpAllowlist,
} from './store.ts'

/** How wide a block may be, and how many there may be of a family (docs/protocol/organizations.md#ip-allow-lists). */
const LIMITS = { widest: { ipv4: 20, ipv6: 48 }, most: 10 } as const

/**
 * Puts a list into the place of another. Unstated: what an absent `enabled` or `onEvaluationError` means beside new
 * rules. It stays as it was: a request about rules must not silently open what was closed.
 */
const set: TypedHandler<Wire.SetIpAllowlistIntent, Wire.SetIpAllowlistResult> = {
  async validate(context, { publicKey, enabled, rules = [], onEvaluationError }) {
    await requireParent(context)
    readRules(rules, context.now)
    if (onEvaluationError && onEvaluationError !== 'ALLOW' && onEvaluationError !== 'DENY') {
      throw apiError('invalidField', 'onEvaluationError', 'must be one of ALLOW, DENY')
    }
    if (!publicKey) return
    await requireKey(context, publicKey)
    if (enabled !== undefined) throw apiError('invalidField', 'enabled', 'belongs to the list of the organization')
  },
  async execute({ tx, organizationId, now }, intent) {
    const publicKey = intent.publicKey?.toLowerCase()
    const list = { organization_id: organizationId, rules: JSON.stringify(readRules(intent.rules ?? [], now)) }
    const onError = intent.onEvaluationError || undefined
    if (publicKey) {
      const before = await findApiKeyIpAllowlist(tx, organizationId, publicKey)
      const on_evaluation_error = onError ?? before?.on_evaluation_error ?? null
      await replaceApiKeyIpAllowlist(tx, { ...list, public_key: publicKey, on_evaluation_error })
    } else {
      const before = await findIpAllowlist(tx, organizationId)
      const enabled = intent.enabled ?? before?.enabled === 1
      const on_evaluation_error = onError ?? before?.on_evaluation_error ?? null
      await replaceIpAllowlist(tx, { ...list, enabled: enabled ? 1 : 0, on_evaluation_error })
    }
    return {}
  },
}

/** Removing a list that does not exist changes nothing, and succeeds. */
const remove: TypedHandler<Wire.RemoveIpAllowlistIntent, Wire.RemoveIpAllowlistResult> = {
  async validate(context, { publicKey }) {
    await requireParent(context)
    if (publicKey) await requireKey(context, publicKey)
  },
  async execute({ tx, organizationId }, { publicKey }) {
    if (publicKey) await deleteApiKeyIpAllowlist(tx, organizationId, publicKey.toLowerCase())
    else await deleteIpAllowlist(tx, organizationId)
    return {}
  },
}

export const ipAllowlistHandlers = {
  ACTIVITY_TYPE_SET_IP_ALLOWLIST: set,
  ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST: remove,
} satisfies HandlerRows

async function requireParent({ tx, organizationId }: HandlerContext): Promise<void> {
  const organization = await findOrganization(tx, organizationId)
  if (organization?.parent_id != null) throw ofParentsAlone()
}

async function requireKey({ tx, organizationId }: HandlerContext, publicKey: string): Promise<void> {
  const key = await findApiKeyByPublicKey(tx, organizationId, publicKey.toLowerCase())
  if (!key) throw apiError('notFound', 'api key', publicKey)
}

/** The rules in their normal form, the first of several that are one. Throws the refusal of the first invalid one. */
function readRules(rules: readonly Wire.IpAllowlistIntentRule[], now: number): Wire.IpAllowlistRule[] {
  const read = new Map<string, Wire.IpAllowlistRule>()
  const counts = { ipv4: 0, ipv6: 0 }
  for (const [index, { cidr, label }] of rules.entries()) {
    const block = parseBlock(cidr)
    if (!block) throw invalidAllowlistRule(index, cidr, 'it is no address block')
    const widest = LIMITS.widest[block.family]
    if (block.bits < widest) throw invalidAllowlistRule(index, cidr, `it is wider than /${widest}`)
    const normal = printBlock(block)
    if (read.has(normal)) continue
    if (++counts[block.family] > LIMITS.most) {
      throw invalidAllowlistRule(index, cidr, `there are more than ${LIMITS.most} of its family`)
    }
    read.set(normal, { cidr: normal, ...(label === undefined ? {} : { label }), createdAt: String(now) })
  }
  return [...read.values()]
}
