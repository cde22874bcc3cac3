/** What may happen to an apply from Git on its way: one process for each apply, faults between it and the service. */

import { expect, test } from 'vitest'
import type { ApplyProgress } from '../../activities/index.ts'
import type { Fault } from '../faults/between.ts'
import type { TestService } from '../service/harness.ts'
import { quorate, quorateShared } from './harness.ts'
import { merged, TAGS } from './pull-request.ts'
import { startCommand } from './started.ts'

test('a pull request: whatever happens to the second of its three activities, everything comes to be once', async () => {
  const { service, env, defs, write, between } = await merged()
  const faults: readonly { readonly name: string; readonly fault: Fault; readonly times: number }[] = [
    { name: 'a 500', fault: { kind: 'answer', status: 500 }, times: 2 },
    { name: 'a connection that is cut after the request was carried out', fault: { kind: 'cut after' }, times: 1 },
    { name: 'a 429, twenty times', fault: { kind: 'answer', status: 429, retryAfter: '1' }, times: 20 },
  ]
  const state: { tags: readonly string[]; guests: readonly string[]; signers: Record<number, string> } = {
    tags: TAGS,
    guests: [],
    signers: {},
  }
  for (const [index, { name, fault, times }] of faults.entries()) {
    state.tags = [...state.tags.filter((tag) => tag !== `t${index + 1}`), `more${index}`, `most${index}`]
    state.guests = [...state.guests, `guest${index}`]
    state.signers[index] = 'u3'
    write(state)
    const asked = new Set<number>()
    let left = times
    between.meddle = ({ submits, question }) => {
      if (submits) asked.add(question)
      return [...asked][1] === question && left-- > 0 ? fault : undefined
    }
    const ran = await quorate(['apply', defs, '--yes', '--allow-delete', '--json'], { env })
    between.meddle = () => undefined
    expect(left, name + ran.stdout + ran.stderr).toBeLessThanOrEqual(0)
    expect((JSON.parse(ran.stdout) as ApplyProgress).state, name + ran.stderr).toBe('done')
    const next = await quorateShared(['plan', defs, '--detailed-exitcode'], { env })
    expect([name, next.exit, next.stdout.includes('No changes.')]).toEqual([name, 0, true])
    const { users } = await service.root.query('list_users')
    expect(
      users.filter(({ userName }) => userName === `guest${index}`),
      name,
    ).toHaveLength(1)
  }
  await expectNothingTwice(service)
})

test('a pull request: whose command is killed, or is read by nobody any more, while its second activity is on its way, comes to be once', async () => {
  const { service, env, folder, defs, write, between } = await merged()
  let tags = TAGS
  for (const [index, lost] of (['command', 'reader'] as const).entries()) {
    tags = [...tags.filter((tag) => tag !== `t${index + 1}`), `more${index}`]
    write({ tags, guests: ['guest0', 'guest1'].slice(0, index + 1), signers: { [index]: 'u3' } })
    const asked = new Set<number>()
    const second = Promise.withResolvers<void>()
    const over = Promise.withResolvers<void>()
    between.meddle = async ({ submits, question }) => {
      if (submits) asked.add(question)
      if ([...asked][1] !== question) return undefined
      second.resolve()
      await over.promise
      return undefined
    }
    const { ended, kill, stopReading } = startCommand(['apply', defs, '--yes', '--allow-delete', '--events'], {
      env,
      home: folder,
    })
    await Promise.race([second.promise, ended.then(({ stderr }) => Promise.reject(new Error(stderr)))])
    if (lost === 'reader') stopReading()
    else {
      kill('SIGKILL')
      await ended
    }
    over.resolve()
    const { exit, stderr } = await ended
    expect([lost, exit], stderr).toEqual([lost, lost === 'command' ? null : 141])
    const followed = await quorateShared(['status', '--follow'], { env })
    expect([lost, followed.exit], followed.stdout + followed.stderr).toEqual([lost, 0])
    between.meddle = () => undefined
    const next = await quorateShared(['plan', defs, '--detailed-exitcode'], { env })
    expect([lost, next.exit, next.stdout.includes('No changes.')], next.stdout + stderr).toEqual([lost, 0, true])
  }
  await expectNothingTwice(service)
})

async function expectNothingTwice(service: TestService): Promise<void> {
  const { activities } = await service.root.query('list_activities', { paginationOptions: { limit: '100' } })
  const said = activities.map(({ type, intent }) => JSON.stringify([type, intent]))
  expect(new Set(said).size).toBe(said.length)
}
