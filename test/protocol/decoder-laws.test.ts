import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type ActivityType,
  activities,
  createDecoder,
  parseJson,
  type QueryName,
  queries,
} from '../../src/protocol/index.ts'
import { runs } from '../runs.ts'
import { arbitraryMessage, disguise } from './arbitrary.ts'

const decoder = createDecoder()
const bytes = (text: string) => new TextEncoder().encode(text)

test('decoder: of every activity, any intent is read back from its JSON, however it is written', () => {
  for (const row of Object.values(activities))
    fc.assert(
      fc.property(arbitraryMessage(row.intent), fc.infiniteStream(fc.nat(9)), (intent, choices) => {
        const choose = () => choices.next().value as number
        const written = JSON.stringify(disguise(row.intent, intent, choose))
        expect(decoder.intent(row.type as ActivityType, parseJson(bytes(written)))).toEqual(intent)
      }),
      { numRuns: runs(3) },
    )
})

test('decoder: of every query, any request is read back from its JSON, however it is written', () => {
  for (const row of Object.values(queries))
    fc.assert(
      fc.property(arbitraryMessage(row.request), fc.uuid(), fc.infiniteStream(fc.nat(9)), (rest, id, choices) => {
        const request = { ...rest, organizationId: id }
        const written = JSON.stringify(disguise(row.request, request, () => choices.next().value as number))
        expect(decoder.query(row.name as QueryName, parseJson(bytes(written)))).toEqual(request)
      }),
      { numRuns: runs(3) },
    )
})

test('decoder: reading what was read changes nothing', () => {
  fc.assert(
    fc.property(arbitraryMessage('CreateSubOrganizationIntentV8'), (intent) => {
      const once = decoder.intent('ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8', intent)
      expect(decoder.intent('ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8', once)).toEqual(once)
    }),
  )
})
