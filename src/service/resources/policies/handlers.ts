import { apiError, apiErrorAt, type Wire } from '../../../protocol/index.ts'
import { type HandlerContext, weightOfExpressions } from '../../engine/index.ts'
import { POLICY_TIME_FEATURE, timeNotEnabled } from '../../readings.ts'
import { type HandlerRows, mapIntent, type TypedHandler } from '../handler-table.ts'
import { checkLimit } from '../limits.ts'
import { listFeatures } from '../organizations/features-store.ts'
import { requireDistinct, requirePolicy } from '../require.ts'
import {
  deletePolicies as deletePolicyRows,
  insertPolicy,
  policyTable,
  updatePolicy as updatePolicyRow,
} from './store.ts'

type NewPolicy = Wire.CreatePolicyIntentV3

/** All or nothing: one activity has one result (U-batch-create). */
const createPolicies: TypedHandler<readonly NewPolicy[], Wire.CreatePoliciesResult> = {
  validate: (context, policies) => checkNew(context, policies, (field, index) => `policies[${index}].${field}`),
  async execute(context, policies) {
    const policyIds: string[] = []
    for (const policy of policies) policyIds.push(await addPolicy(context, policy))
    return { policyIds }
  },
}

const createPolicy: TypedHandler<NewPolicy, Wire.CreatePolicyResult> = {
  validate: (context, policy) => checkNew(context, [policy], (field) => field),
  execute: async (context, policy) => ({ policyId: await addPolicy(context, policy) }),
}

/** An absent property leaves the value alone; an empty `time` clears it (U-clear-field). */
const updatePolicy: TypedHandler<Wire.UpdatePolicyIntentV2, Wire.UpdatePolicyResultV2> = {
  async validate(context, { policyId, policyName, policyConsensus, policyCondition, time }) {
    await requirePolicy(context, policyId)
    const names = { consensus: 'policyConsensus', condition: 'policyCondition', time: 'time' }
    const texts = { consensus: policyConsensus, condition: policyCondition, time }
    await checkTexts(context, [texts], (field) => names[field])
    if (!policyName) return
    const others = (await policyTable.list(context.tx, context.organizationId)).filter(({ id }) => id !== policyId)
    checkLabels([...others.map(({ name }) => name), policyName])
  },
  async execute({ tx, organizationId, now, newId }, { policyId, policyName, policyEffect, time, ...texts }) {
    await updatePolicyRow(tx, organizationId, policyId, {
      ...(policyName ? { name: policyName } : {}),
      ...(policyEffect === undefined ? {} : { effect: policyEffect }),
      ...(texts.policyConsensus === undefined ? {} : { consensus: texts.policyConsensus }),
      ...(texts.policyCondition === undefined ? {} : { condition: texts.policyCondition }),
      ...(texts.policyNotes === undefined ? {} : { notes: texts.policyNotes }),
      ...(time === undefined ? {} : { time: time || null }),
      now,
      version: newId(),
    })
    return { policyId }
  },
}

const deletePolicies: TypedHandler<Wire.DeletePoliciesIntent, Wire.DeletePoliciesResult> = {
  async validate(context, { policyIds }) {
    requireDistinct('policyIds', policyIds)
    for (const id of policyIds) await requirePolicy(context, id)
  },
  async execute({ tx, organizationId, newId }, { policyIds }) {
    await deletePolicyRows(tx, organizationId, policyIds, newId())
    return { policyIds }
  },
}

const deletePolicy: TypedHandler<Wire.DeletePolicyIntent, Wire.DeletePolicyResult> = {
  validate: (context, { policyId }) => deletePolicies.validate!(context, { policyIds: [policyId] }),
  async execute(context, { policyId }) {
    await deletePolicies.execute(context, { policyIds: [policyId] })
    return { policyId }
  },
}

/** Unstated: how selectors map to expressions; they are refused (U-legacy-selectors). */
const selectors = { notExecuted: 'selectors are superseded by expressions, use ACTIVITY_TYPE_CREATE_POLICY_V3' }

export const policyHandlers = {
  ACTIVITY_TYPE_CREATE_POLICY: selectors,
  ACTIVITY_TYPE_CREATE_POLICY_V2: selectors,
  ACTIVITY_TYPE_CREATE_POLICY_V3: createPolicy,
  ACTIVITY_TYPE_CREATE_POLICIES: mapIntent(createPolicies, ({ policies }: Wire.CreatePoliciesIntent) => policies),
  ACTIVITY_TYPE_UPDATE_POLICY: updatePolicy,
  ACTIVITY_TYPE_UPDATE_POLICY_V2: updatePolicy,
  ACTIVITY_TYPE_DELETE_POLICY: deletePolicy,
  ACTIVITY_TYPE_DELETE_POLICIES: deletePolicies,
} satisfies HandlerRows

interface Texts {
  readonly consensus?: string | undefined
  readonly condition?: string | undefined
  readonly time?: string | undefined
}

/** The path in the intent of a text of a policy, by the policy's place among those of the request. */
type PathOf = (field: keyof Texts, index: number) => string

async function checkNew(context: HandlerContext, policies: readonly NewPolicy[], pathOf: PathOf): Promise<void> {
  await checkTexts(context, policies, pathOf)
  const present = await policyTable.list(context.tx, context.organizationId)
  checkLabels([...present.map(({ name }) => name), ...policies.map(({ policyName }) => policyName)])
  await checkLimit(context, 'policies', { present: present.length, added: policies.length })
}

/** Throws the refusal of the first policy that has one: of its texts, or of a time where there are none. */
async function checkTexts(
  { tx, organizationId, work }: HandlerContext,
  policies: readonly Texts[],
  pathOf: PathOf,
): Promise<void> {
  const features = policies.some(({ time }) => time) ? await listFeatures(tx, organizationId) : []
  const hasTimes = features.some(({ name }) => name === POLICY_TIME_FEATURE)
  const refused = hasTimes ? -1 : policies.findIndex(({ time }) => time)
  const read = refused < 0 ? policies : policies.slice(0, refused + 1)
  const input = read.map(({ consensus, condition, time }) => ({ consensus, condition, time }))
  const weight = weightOfExpressions(input.flatMap((texts) => Object.values(texts)))
  const { refusal, at } = work.run('checkPolicies', { input, weight })
  if (refusal !== undefined) throw apiErrorAt(pathOf(at!.field, at!.index), 'requestInvalid', refusal)
  if (refused >= 0) throw timeNotEnabled()
}

/** Names are unique among the organization's policies (docs/protocol/policies.md#a-policy). */
function checkLabels(names: readonly string[]): void {
  if (new Set(names).size < names.length) throw apiError('policyLabelTaken')
}

async function addPolicy(context: HandlerContext, policy: NewPolicy): Promise<string> {
  const id = context.newId()
  const row = {
    id,
    organization_id: context.organizationId,
    name: policy.policyName,
    effect: policy.effect,
    consensus: policy.consensus ?? null,
    condition: policy.condition ?? null,
    time: policy.time || null,
    notes: policy.notes ?? '',
    created_at: context.now,
    updated_at: context.now,
  }
  await insertPolicy(context.tx, row, context.newId())
  return id
}
