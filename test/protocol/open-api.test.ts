import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { firstFailed } from '../../src/protocol/checks.ts'
import { openApiDocument } from '../../src/protocol/index.ts'

test('open api: a value that the check lets be left out may be an empty text, and one without is held to its format', () => {
  const { components } = openApiDocument({}) as unknown as { components: { schemas: Record<string, object> } }
  const ajv = new Ajv2020({ strict: false, formats: { email: /^\S+@\S+$/, uuid: /^[0-9a-f-]{36}$/ } })
  ajv.addSchema({ $id: 'served', components })
  const accepts = (name: string, value: unknown) =>
    ajv.compile({ $ref: `served#/components/schemas/${name}` })(value) as boolean
  const change = (userEmail: string) => ({ userId: '00000000-0000-4000-8000-000000000001', userEmail })
  expect(accepts('UpdateUserEmailIntent', change(''))).toBe(true)
  expect(accepts('UpdateUserEmailIntent', change('a@acme.test'))).toBe(true)
  expect(accepts('UpdateUserEmailIntent', change('nobody'))).toBe(false)
  expect(accepts('UpdateUserEmailIntent', { userId: '', userEmail: '' })).toBe(false)
})

test('open api: what the description says of a value in words of its own refuses nothing that the checks let pass', () => {
  const ajv = new Ajv2020({ strict: false, formats: { email: /^\S+@\S+$/, uuid: /^[0-9a-f-]{36}$/i } })
  const texts = ['', 'a', 'é 字', '0', '1', '600', '0012', '1.5', '0xab', 'AB', '+15551234567', 'a@acme.test', 'ALLOW']
  const long = [255, 256, 64, 66].map((length) => 'a'.repeat(length))
  const samples: Readonly<Record<string, readonly unknown[]>> = {
    string: [...texts, ...long, '00000000-0000-4000-8000-000000000001', 'OTP_TYPE_SMS'],
    integer: [0, 1, 6, 9, 10, 43_200],
    array: [[], [1], Array(16).fill(1), Array(50).fill(1), Array(51).fill(1)],
    boolean: [true, false],
  }
  const seen = new Map<string, number>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { type, 'x-checks': tags } = value as { type?: string; 'x-checks'?: string }
    if (type !== undefined && tags !== undefined && !seen.has(`${type} ${tags}`)) {
      const { items: _items, default: _default, ...said } = value as { items?: unknown; default?: unknown }
      const accepts = ajv.compile(said)
      const passed = samples[type]!.filter((one) => firstFailed(tags, one, {}) === undefined)
      expect(passed.filter((one) => !accepts(one)).map((one) => `${type} ${tags}: ${JSON.stringify(one)}`)).toEqual([])
      seen.set(`${type} ${tags}`, samples[type]!.filter((one) => !accepts(one)).length)
    }
    for (const one of Object.values(value)) visit(one)
  }
  visit(openApiDocument({}))
  expect(seen.size).toBeGreaterThan(40)
  // And it says something: of most checks a sample is refused.
  expect([...seen.values()].filter((refused) => refused > 0).length).toBeGreaterThan(30)
})

test('open api: a 501 is declared where a reason is given, and nowhere else', () => {
  const { paths } = openApiDocument({ except: { get_boot_proof: 'no proofs' } }) as unknown as {
    paths: Record<string, { post: { responses: Record<string, { description: string }> } }>
  }
  const declared = Object.entries(paths).flatMap(([path, { post }]) => (post.responses[501] ? [path] : []))
  expect(declared).toEqual(['/public/v1/query/get_boot_proof'])
  expect(paths[declared[0]!]!.post.responses[501]!.description).toContain('no proofs')
})
