import { apiError, apiErrorAt, type Wire } from '../../../protocol/index.ts'
import { type HandlerContext, weightOfExpressions } from '../../engine/index.ts'
import { MAX_MFA_POLICIES } from '../../readings.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { requireUser } from '../require.ts'
import { listMfaPolicies, mfaPolicyTable } from './store.ts'

const createMfaPolicy: TypedHandler<Wire.CreateMfaPolicyIntent, Wire.CreateMfaPolicyResult> = {
  async validate(context, intent) {
    await requireUser(context, intent.userId)
    checkTexts(context, intent)
    const present = await listMfaPolicies(context.tx, context.organizationId, [intent.userId])
    if (present.length >= MAX_MFA_POLICIES) throw apiError('maxReached', 'user', 'MFA policies', MAX_MFA_POLICIES)
  },
  async execute({ tx, organizationId, now, newId }, intent) {
    const id = newId()
    await mfaPolicyTable.insert(tx, [
      {
        id,
        organization_id: organizationId,
        user_id: intent.userId,
        name: intent.mfaPolicyName,
        condition: intent.condition,
        steps: toSteps(intent.requiredAuthenticationMethods),
        evaluation_order: intent.order,
        notes: intent.notes ?? '',
        created_at: now,
        updated_at: now,
      },
    ])
    return { mfaPolicyId: id }
  },
}

/** What is absent stays (docs/protocol/mfa.md#mfa-policies). */
const updateMfaPolicy: TypedHandler<Wire.UpdateMfaPolicyIntent, Wire.UpdateMfaPolicyResult> = {
  async validate(context, intent) {
    await requireMfaPolicy(context, intent)
    checkTexts(context, intent)
  },
  async execute({ tx, organizationId, now }, { mfaPolicyId, ...intent }) {
    const { mfaPolicyName: name, condition, requiredAuthenticationMethods: methods, order, notes } = intent
    await mfaPolicyTable.update(tx, organizationId, mfaPolicyId, {
      ...(name ? { name } : {}),
      ...(condition ? { condition } : {}),
      ...(methods === undefined ? {} : { steps: toSteps(methods) }),
      ...(order === undefined ? {} : { evaluation_order: order }),
      ...(notes === undefined ? {} : { notes }),
      now,
    })
    return { mfaPolicyId }
  },
}

const deleteMfaPolicy: TypedHandler<Wire.DeleteMfaPolicyIntent, Wire.DeleteMfaPolicyResult> = {
  validate: requireMfaPolicy,
  async execute({ tx, organizationId }, { mfaPolicyId }) {
    await mfaPolicyTable.delete(tx, organizationId, [mfaPolicyId])
    return { mfaPolicyId }
  },
}

export const mfaPolicyHandlers = {
  ACTIVITY_TYPE_CREATE_MFA_POLICY: createMfaPolicy,
  ACTIVITY_TYPE_UPDATE_MFA_POLICY: updateMfaPolicy,
  ACTIVITY_TYPE_DELETE_MFA_POLICY: deleteMfaPolicy,
} satisfies HandlerRows

async function requireMfaPolicy(
  context: HandlerContext,
  { userId, mfaPolicyId }: { readonly userId: string; readonly mfaPolicyId: string },
): Promise<void> {
  await requireUser(context, userId)
  const policy = await mfaPolicyTable.find(context.tx, context.organizationId, mfaPolicyId)
  if (policy?.user_id !== userId) throw apiError('notFound', 'MFA policy', mfaPolicyId)
}

/** Unstated: that a policy has a step, and a step a method: without any it could be satisfied by nothing, or by anything. */
function checkTexts(
  { work }: HandlerContext,
  {
    condition,
    requiredAuthenticationMethods: steps,
  }: Pick<Wire.UpdateMfaPolicyIntent, 'condition' | 'requiredAuthenticationMethods'>,
): void {
  if (condition) {
    const { refusal } = work.run('checkPolicies', { input: [{ condition }], weight: weightOfExpressions([condition]) })
    if (refusal !== undefined) throw apiErrorAt('condition', 'requestInvalid', refusal)
  }
  const isEmpty = steps && (steps.length === 0 || steps.some(({ any }) => any.length === 0))
  if (isEmpty) throw apiError('invalidField', 'requiredAuthenticationMethods', 'must have a method in each step')
}

function toSteps(methods: readonly Wire.RequiredAuthenticationMethodParams[]): string {
  return JSON.stringify(methods.map(({ any }) => any.map(({ type, id }) => (id ? { type, id } : { type }))))
}
