/** docs/reconciler.md is true: its way from a key to an applied proposal is typed, with `quorate worker` as a process of its own. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { environmentOf, testFolder } from './cli/harness.ts'
import { startTestService } from './service/harness.ts'
import { testTemporalEnvironment } from './temporal.ts'
import { blocksOf, typeBlocks } from './typed-page.ts'

test('docs/reconciler.md: what it types is answered as it says', { timeout: 600_000 }, async () => {
  const service = await startTestService()
  const folder = join(testFolder(), 'quorate')
  cpSync(join(import.meta.dirname, '../definitions'), join(folder, 'definitions'), { recursive: true })
  const env = environmentOf(service, folder, service.root.privateKey, await testTemporalEnvironment())
  const typed = await typeBlocks(blocksOf('docs/reconciler.md'), folder, { env, atEnd: () => service.close() })
  expect(typed).toBeGreaterThan(10)
})
