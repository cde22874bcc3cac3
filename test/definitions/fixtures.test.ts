import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { codes } from '../../src/definitions/index.ts'
import { KINDS, kinds } from '../../src/resources/index.ts'
import { loadFiles, splitFixture, toFault } from './harness.ts'

const folder = (name: string) => join(import.meta.dirname, name)
const fixtures = (name: string) =>
  readdirSync(folder(name)).map((file) => ({
    file,
    path: join(folder(name), file),
    text: readFileSync(join(folder(name), file), 'utf8'),
  }))

/** What a fixture says of every kind, so that a new one is none of its changes. */
const filled = (text: string) =>
  text
    .replace('<sections>', () =>
      KINDS.map((kind) => kinds[kind])
        .flatMap(({ parent, form }) => (parent || form.shape === 'folder' ? [] : [form.key]))
        .join(', '),
    )
    .replace('<kinds with ids>', () =>
      KINDS.flatMap((kind) => (kinds[kind].referable ? [`\`${kind}\``] : [])).join(', '),
    )

/** `UPDATE_FIXTURES=1` writes what is found into the fixtures, to be read and judged before it is committed. */
const update = process.env['UPDATE_FIXTURES'] === '1'

describe('invalid definitions', () => {
  for (const { file, path, text } of fixtures('invalid')) {
    test(`definitions: ${file.replace('.txt', '').replaceAll('-', ' ')}`, async () => {
      const { files, expected } = splitFixture(text)
      const { desired, diagnostics } = await loadFiles(files)
      const faults = diagnostics.map(toFault)
      if (update) {
        writeFileSync(path, `${text.split('#### EXPECT\n')[0]}#### EXPECT\n${stringify(faults, { lineWidth: 0 })}`)
        return
      }
      expect(faults).toEqual(parse(filled(expected)))
      expect(faults.length).toBeGreaterThan(0)
      if (faults.some(({ severity }) => severity === undefined)) expect(desired).toBeUndefined()
    })
  }
})

describe('valid definitions', () => {
  for (const { file, path, text } of fixtures('valid')) {
    test(`definitions: ${file.replace('.txt', '').replaceAll('-', ' ')}`, async () => {
      const { files, expected } = splitFixture(text)
      const { desired, diagnostics } = await loadFiles(files)
      expect(diagnostics.map(toFault)).toEqual([])
      const resources = desired!.resources.map(({ address, fields, tombstone, renamedFrom, parent }) => ({
        address,
        ...(parent ? { parent } : {}),
        ...(tombstone ? { tombstone } : {}),
        ...(renamedFrom ? { renamedFrom } : {}),
        fields,
      }))
      const seen = { organization: desired!.organization, manageAll: [...desired!.manageAll], resources }
      if (update)
        writeFileSync(path, `${text.split('#### EXPECT\n')[0]}#### EXPECT\n${stringify(seen, { lineWidth: 0 })}`)
      else expect(seen).toEqual(parse(expected))
    })
  }
})

describe('codes', () => {
  test('codes: every code of definitions has its fixture or test', () => {
    const tests = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.test.ts'))
    const texts = [
      ...fixtures('invalid').map(({ text }) => text),
      ...tests.map((file) => readFileSync(folder(file), 'utf8')),
    ].join()
    const seen = (code: string) => new RegExp(`${code}\\b(?!-)`).test(texts)
    expect(Object.keys(codes).filter((code) => !seen(code))).toEqual([])
  })
})
