import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { atTemporal, connectTemporal, findTemporal, startTemporalServer } from '../../src/worker/index.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-server-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const announce = () => {}

describe('embedded temporal server', () => {
  test('what was started is there after a stop and a start on the same file', async () => {
    const binary = await findTemporal({ announce })
    const dbFile = join(folder, 'state', 'temporal.db')
    const first = await startTemporalServer({ binary, dbFile, announce })
    const before = await connectTemporal({ address: first.address })
    await before.client.workflow.start('anything', { workflowId: 'kept', taskQueue: 'nobody' })
    await before.close()
    await first.stop()
    expect(() => process.kill(first.pid, 0)).toThrow()

    const second = await startTemporalServer({ binary, dbFile, announce })
    const after = await connectTemporal({ address: second.address })
    const { status } = await after.client.workflow.getHandle('kept').describe()
    await after.close()
    await second.stop()
    expect(status.name).toBe('RUNNING')
    expect(statSync(join(folder, 'state')).mode & 0o077).toBe(0)
  })

  test('a binary that ends at once is an error with its last words', async () => {
    const binary = join(folder, 'broken')
    writeFileSync(binary, '#!/bin/sh\necho "database is locked" >&2\nexit 3\n')
    chmodSync(binary, 0o755)
    const fault = startTemporalServer({ binary, dbFile: join(folder, 'broken.db'), announce })
    await expect(fault).rejects.toMatchObject({
      code: 'worker/temporal-failed',
      message: expect.stringContaining('it ended with status 3'),
      facts: { said: 'database is locked' },
    })
  })

  test('no server at the address is an error that names it', async () => {
    await expect(connectTemporal({ address: '127.0.0.1:1' })).rejects.toMatchObject({
      code: 'worker/temporal-unreachable',
      message: 'no Temporal server answers at `127.0.0.1:1`',
    })
  })

  test('a server that goes away while it is asked is the same error, of a call and of a query', async () => {
    const connection = Connection.lazy({ address: '127.0.0.1:1' })
    const client = new Client({ connection })
    const asked = [
      () => client.workflowService.getSystemInfo({}),
      () => client.workflow.getHandle('send/a/b').query('progress'),
    ]
    for (const ask of asked) {
      const soon = () => connection.withDeadline(Date.now() + 300, ask)
      await expect(atTemporal({ address: '127.0.0.1:1', namespace: 'default' }, soon)).rejects.toMatchObject({
        code: 'worker/temporal-unreachable',
        message: 'the Temporal server at `127.0.0.1:1` answers no more',
      })
    }
    await connection.close()
    const other = new Error('another')
    await expect(atTemporal({ address: '', namespace: '' }, () => Promise.reject(other))).rejects.toBe(other)
  })
})
