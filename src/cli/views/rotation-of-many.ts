/** Rotations of many keys for people; programs get the same as JSON. */
import { type RotationOrder, sinkInWords } from '../../../activities/index.ts'
import type { LeftKey, ReportedRotation, RotationOfMany } from '../../operations/index.ts'
import type { Style } from '../io.ts'
import { view } from '../screen.ts'
import { renderRotation } from './rotation.ts'

/** A key that is due, and was not begun by this command. */
export interface NotBegun {
  /** Names. */
  readonly user: string
  readonly key: string
  readonly keyId: string
  readonly why: 'one at a time' | 'another one failed'
}

/** What will be done, before it is. */
export const renderOrders = view(({ orders, left }: RotationOfMany, style: Style): string => {
  const rows = orders.map((order) => `  ${keyOf(order)}  ${style.dim(sinkInWords(order.sink))}\n`)
  const head = orders.length === 1 ? '1 API key is due:\n' : `${orders.length} API keys are due:\n`
  return (orders.length === 0 ? 'No API key is due.\n' : head + rows.join('')) + renderLeft(left, style)
})

const keyOf = ({ user, key }: Pick<RotationOrder, 'user' | 'key'>) => `${key.name} of ${user.name}`

const WHY_LEFT: Readonly<Record<LeftKey['why'], string>> = {
  expires: 'it expires by itself',
  'other curve': 'it is not a P-256 key: register another one of its curve in the definitions',
  'in use': 'it signs this command: rotate it alone, with `quorate rotate key --to-file` and its own file',
  'left out': 'left out',
}

function renderLeft(left: readonly LeftKey[], style: Style): string {
  return left.map((one) => style.warning(`  not rotated: ${keyOf(one)}: ${WHY_LEFT[one.why]}\n`)).join('')
}

const WHY_NOT_BEGUN: Readonly<Record<NotBegun['why'], string>> = {
  'one at a time': 'another key of the user is being rotated; give the command again when that is over',
  'another one failed':
    'another one failed; mend that, or leave its user out with --except, and give the command again',
}

/** Each as it stands, with its times. */
export const renderRotationsReport = view(
  (
    {
      rotations,
      left,
      notBegun,
    }: Pick<RotationOfMany, 'left'> & {
      readonly rotations: readonly ReportedRotation[]
      readonly notBegun: readonly NotBegun[]
    },
    style: Style,
    now: number,
  ): string => {
    const rows = rotations.map((one) => {
      const { startedAt, handedAt = '', deletedAt = '' } = one
      const times = [
        ['begun', startedAt],
        ['handed over', handedAt],
        ['deleted', deletedAt],
      ] as const
      return renderRotation(one, style, now, times)
    })
    const later = notBegun.map(({ key, user, why }) =>
      style.warning(`not begun  ${key} of ${user}: ${WHY_NOT_BEGUN[why]}\n`),
    )
    return rows.join('') + later.join('') + renderLeft(left, style)
  },
)
