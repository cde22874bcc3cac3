import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands/index.ts'
import { allCodes } from '../../src/cli/reference/errors.ts'
import { pages } from '../../src/cli/reference/pages.ts'
import { settingRows } from '../../src/config/index.ts'
import { KINDS, kinds } from '../../src/resources/index.ts'

const root = join(import.meta.dirname, '../..')
const sources = ['src', 'activities', 'workflows'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('codes.ts') && !name.includes('.gen.'))
    .map((name) => readFileSync(join(root, folder, name), 'utf8')),
)
const families = [...new Set(Object.keys(allCodes).map((code) => code.split('/')[0]))]

const read = (page: string) => readFileSync(join(root, 'docs', page), 'utf8')

describe('reference', () => {
  test.for(Object.keys(pages))('%s is what the tables say', (page) => {
    expect(read(page)).toBe(pages[page]!())
  })

  test('commands: every command, option and setting is on the page, and nothing that is hidden', () => {
    const page = read('cli.md')
    for (const { name, hidden, options = [], example } of commands) {
      expect(page.includes(`## quorate ${name}\n`), name).toBe(!hidden)
      if (!hidden) for (const text of [example, ...options.map(({ flags }) => flags)]) expect(page).toContain(text)
    }
    for (const { flag, environment } of Object.values(settingRows)) {
      expect(page).toContain(`\`${flag} `)
      expect(page).toContain(environment)
    }
  })

  test('definitions: every kind is on the page with every field that may be written', () => {
    const page = read('definitions.md')
    for (const kind of KINDS) {
      const { form, fields } = kinds[kind]
      const section = page.split(/^## /m).find((one) => one.split('\n')[0]!.split('.').at(-1) === form.key)
      expect(section, kind).toBeDefined()
      for (const [name, row] of Object.entries(fields))
        if (row.schema) expect(page, `${kind} ${name}`).toContain(`| \`${name}\` |`)
    }
  })
})

describe('reference: errors', () => {
  test('every code that is used has a row', () => {
    const used = sources.flatMap((text) => [
      ...text.matchAll(new RegExp(`'((?:${families.join('|')})/[a-z][a-z-]+)'`, 'g')),
    ])
    expect(used.length).toBeGreaterThan(150)
    expect([...new Set(used.map((match) => match[1]!))].filter((code) => !(code in allCodes))).toEqual([])
  })

  test('every row is used', () => {
    const text = sources.join('\n')
    // Of these the source has the room and, elsewhere, the word behind the slash; of all others the whole code. `none` and its like stand
    // in many a file that has nothing to do with the code.
    const isBuilt = (code: string) => /^(lint|stamp)\//.test(code)
    const unused = Object.keys(allCodes).filter(
      (code) =>
        !new RegExp(`['" ]${code}['": ]`).test(text) && !(isBuilt(code) && text.includes(`'${code.split('/')[1]}'`)),
    )
    expect(unused).toEqual([])
  })

  test('every row says what happened and what to do, each in words of its own', () => {
    const words = (text: string) => text.split(/\s+/).length
    const poor = Object.entries(allCodes).filter(
      ([, { summary, solve }]) =>
        words(summary) < 3 || words(solve) < 3 || summary === solve || /\bTODO\b/.test(`${summary}\n${solve}`),
    )
    expect(poor).toEqual([])
  })
})

describe('reference: operations', () => {
  test('the readings of a resource stand in the row of each operation that its folder carries out', () => {
    const page = readFileSync(new URL('../../docs/protocol/operations.md', import.meta.url), 'utf8')
    const readings = (operation: string) => page.split('\n').find((row) => row.startsWith(`| \`${operation}\` |`))
    for (const operation of ['create_webhook_endpoint', 'list_webhook_endpoints'])
      expect(readings(operation)).toContain('[Filters](webhooks.md#filters)')
    for (const operation of ['activate_billing_tier', 'delete_payment_method'])
      expect(readings(operation)).toContain('[Billing](organizations.md#billing)')
    expect(readings('create_policy')).not.toContain('[Billing]')
  })
})
