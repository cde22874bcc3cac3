import { expect, test } from 'vitest'
import { type ApplyHandle, askAnew } from '../../src/operations/index.ts'

/** An apply that has one batch, and says that it is done some questions after it was told to look, or never. */
function applying(afterNudge: number) {
  const told = { nudges: 0, questions: 0 }
  const state = () => (told.nudges > 0 && told.questions++ >= afterNudge ? 'completed' : 'waiting')
  const handle = {
    workflowId: 'apply/7c244a54-083f-4745-98d0-7111fa0c8852',
    query: async () => ({ state: 'running', batches: [{ index: 0, state: state() }] }),
    signal: async () => {
      told.nudges++
    },
  } as unknown as ApplyHandle
  return { handle, told }
}

test('status: an apply that waits is told to look before it is asked how it stands', async () => {
  const { handle, told } = applying(3)
  const { batches } = await askAnew(handle, 60_000)
  expect(batches).toMatchObject([{ state: 'completed' }])
  expect(told.nudges).toBe(1)
})

test('status: a run of before, which does not say that it has looked, is given some time', async () => {
  const { handle, told } = applying(Number.POSITIVE_INFINITY)
  expect((await askAnew(handle, 1)).batches).toMatchObject([{ state: 'waiting' }])
  expect(told.nudges).toBe(1)
})

test('status: where nobody has voted, what it said before is the answer as soon as it has looked', async () => {
  const { handle, told } = applying(Number.POSITIVE_INFINITY)
  const looking = {
    ...handle,
    query: async (name: string) => (name === 'has-looked' ? told.nudges > 0 : handle.query(name as never)),
  }
  expect((await askAnew(looking as ApplyHandle, 600_000)).batches).toMatchObject([{ state: 'waiting' }])
})

test('status: that its own vote has lapsed, which it casts again, is not the answer', async () => {
  const told = { nudges: 0, questions: 0 }
  const handle = {
    workflowId: 'apply/7c244a54-083f-4745-98d0-7111fa0c8852',
    query: async (name: string) => {
      if (name === 'has-looked') return ++told.questions > 3
      const votes =
        told.nudges === 0 || told.questions > 3 ? { approved: ['alice'] } : { approved: [], lapsed: ['alice'] }
      return { state: 'running', batches: [{ index: 0, state: 'waiting', votes }] }
    },
    signal: async () => {
      told.nudges++
    },
  } as unknown as ApplyHandle
  expect((await askAnew(handle, 60_000)).batches).toMatchObject([{ votes: { approved: ['alice'] } }])
})
