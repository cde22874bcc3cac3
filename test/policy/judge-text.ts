import { authorize, checkText, compilePolicy, type PolicyField, writeRefusal } from '../../src/policy/index.ts'

/** Does with a text all that the language does with one; throws when anything but a value or a problem comes of it. */
export function judgeText(field: PolicyField, text: string): void {
  for (const { start, end } of checkText(field, text))
    if (!(0 <= start && start <= end && end <= text.length))
      throw new RangeError(`a problem stands at ${start} to ${end} of ${text.length} in ${JSON.stringify(text)}`)
  writeRefusal({ [field]: text })
  const policy = compilePolicy({ id: 'p', name: 'p', effect: 'EFFECT_ALLOW', [field]: text })
  const wallets = [{ id: 'a' }, { id: 'b', label: 'c' }]
  const activity = { type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' }
  authorize([policy], { now: 0n, activity, approvers: [{ id: 'a' }], wallets, eth: { tx: { value: 1 } } })
}
