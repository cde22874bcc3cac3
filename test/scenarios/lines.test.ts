import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSource, spanAt, toSpanJson } from '../../src/diagnostics/index.ts'
import { createLocate } from '../../src/scenarios/lines.ts'

test('lines: places are those that diagnostics give, for any text and offset', () => {
  const text = fc
    .array(fc.constantFrom('a', 'é', '🙂', '\n', '\r\n', ' '), { maxLength: 40 })
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, fc.nat(90), (written, start) => {
      const source = createSource('t.yaml', written)
      const span = spanAt(source, start)
      const { path, line, column } = toSpanJson(span)
      expect(createLocate({ source })(span)).toEqual({ path, line, column })
    }),
  )
})
