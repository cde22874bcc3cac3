import { WorkflowNotFoundError } from '@temporalio/client'
import { expect, test } from 'vitest'
import { type ApplyHandle, cancelApply, nudgeApply } from '../../src/operations/apply.ts'

const failing = (error: Error) => ({ signal: () => Promise.reject(error) }) as unknown as ApplyHandle

test.each([nudgeApply, cancelApply])(
  'applying: an apply that has just ended is told nothing, and that is no fault',
  async (tell) => {
    await tell(failing(new WorkflowNotFoundError('workflow execution already completed', 'apply/x', undefined)))
    await expect(tell(failing(new Error('another')))).rejects.toThrow('another')
  },
)
