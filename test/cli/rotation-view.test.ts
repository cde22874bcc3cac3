import { expect, test } from 'vitest'
import type { RotationProgress } from '../../activities/index.ts'
import { createStyle } from '../../src/cli/io.ts'
import { renderRotation } from '../../src/cli/views/rotation.ts'
import { renderRotationsReport } from '../../src/cli/views/rotation-of-many.ts'

test('rotate: where the worker has the key of another user, that is said, and what has the rotation go on', () => {
  const message = "the rotation of `deploy` of `ci` was begun by alice, and this worker has bob's key"
  const next = 'start a worker with a key of the user who is named'
  const startedAt = '2026-11-27T20:56:28.020Z'
  const rotation: RotationProgress & { readonly orderedAt: string } = {
    ...{ rotationId: 'ab', user: 'ci', key: 'deploy', state: 'creating', activities: {}, startedAt },
    old: { id: 'i', publicKey: '02ab' },
    error: { code: 'apply/other-user', message, next },
    orderedAt: startedAt,
  }
  const style = createStyle(false)
  const one = renderRotation(rotation, style, 0)
  const many = renderRotationsReport({ rotations: [rotation], left: [], notBegun: [] }, style, 0)
  for (const text of [one, many]) {
    expect(text).toMatch(new RegExp(`error +${message}\n`))
    expect(text).toMatch(new RegExp(`next +${next}\n`))
  }
})

test('rotate: what waits is told in one form, of one key and of many', () => {
  const startedAt = '2026-11-27T20:56:28.020Z'
  const waiting = {
    part: 'create' as const,
    activityId: 'w',
    fingerprint: `sha256:${'7f3a19c2'.repeat(8)}`,
    since: startedAt,
    approved: ['ann'],
  }
  const rotation: RotationProgress & { readonly orderedAt: string } = {
    ...{ rotationId: 'ab', user: 'ci', key: 'deploy', state: 'creating', activities: { create: 'w' }, startedAt },
    old: { id: 'i', publicKey: '02ab' },
    waiting,
    orderedAt: startedAt,
  }
  const style = createStyle(false)
  const now = Date.parse(startedAt) + 60_000
  const many = renderRotationsReport({ rotations: [rotation], left: [], notBegun: [] }, style, now)
  expect(many.match(/waits.*/)?.[0].replace(/ +/, ' ')).toBe(
    renderRotation(rotation, style, now)
      .match(/waits.*/)?.[0]
      .replace(/ +/, ' '),
  )
  expect(many).toContain('approved by ann; others vote with `quorate approve ')
})
