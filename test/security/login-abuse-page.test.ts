import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ABUSE_FOLDER } from './abuse-table.ts'

const PAGE = join(import.meta.dirname, '../../docs/login-abuse.md')

test('the page of what must not log anybody in has every row that was tried', async () => {
  const files = readdirSync(ABUSE_FOLDER).sort()
  const rows = files.flatMap((file) =>
    readFileSync(join(ABUSE_FOLDER, file), 'utf8')
      .trim()
      .split('\n')
      .map((line) => [file.replace('.txt', ''), ...line.split('\t')] as const),
  )
  expect(rows.length).toBeGreaterThanOrEqual(120)
  expect(new Set(rows.map(([file, name]) => `${file} ${name}`)).size).toBe(rows.length)
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
  const lines = [
    '# What must not log anybody in',
    '',
    `${rows.length} attempts, each tried at a real service by \`test/security/login-abuse-*.test.ts\`: it is answered as the table says, and a`,
    'SHA-256 over every row that the service keeps is the same before and after. `…` stands for ids, keys and tokens. Made from what',
    'the tests were answered.',
    '',
    '| | what is tried | answer |',
    '| --- | --- | --- |',
    ...rows.map(([file, name, answer]) => `| ${file} | ${cell(name!)} | ${cell(answer!)} |`),
    '',
  ]
  await expect(lines.join('\n')).toMatchFileSnapshot(PAGE)
})
