import { expect, test } from 'vitest'
import { describeActivity } from '../../activities/activity-state.ts'
import type { Wire } from '../../src/protocol/index.ts'

const failed = (failure?: { readonly message: string }) =>
  describeActivity(
    {
      id: 'idid',
      status: 'ACTIVITY_STATUS_FAILED',
      fingerprint: 'sha256:ab',
      votes: [],
      updatedAt: { seconds: '1', nanos: '0' },
      createdAt: { seconds: '1', nanos: '0' },
      failure,
    } as unknown as Wire.Activity,
    { publicKey: '02ab', userId: 'u', nowMs: 0 },
  ).error

test('a failure that names nothing has no advice to correct it, and says where to look', () => {
  expect(failed({ message: 'name taken' })).toMatchObject({
    message: 'the API could not carry it out: name taken',
    next: 'correct what the message names, then plan and apply again',
  })
  for (const none of [failed(), failed({ message: '' })]) {
    expect(none).toMatchObject({ message: 'the API could not carry it out: it does not say why' })
    expect(none!.next).toMatch(/^look at it with `quorate activities`; plan again/)
    expect(none!.next).not.toContain('the message names')
  }
})
