import { expect, test } from 'vitest'
import { activities, findActivitiesByPath, findActivity, respell, respellText } from '../../src/protocol/index.ts'

const spark = Object.values(activities).filter(({ family }) => family.startsWith('SPARK_'))

test('spelling: the four activities are found under both words, and the word asked is told', () => {
  expect(spark).toHaveLength(4)
  for (const row of spark) {
    expect(findActivity(row.type)).toEqual({ row, spelling: 'spark' })
    expect(findActivity(row.type.replace('SPARK', 'LAYER2'))).toEqual({ row, spelling: 'layer2' })
    expect(findActivitiesByPath(row.path.replace('spark', 'layer2'))).toEqual([row])
  }
})

test('spelling: every identifier survives the way there and back', () => {
  for (const { type, path, intentKey, resultKey } of spark)
    for (const identifier of [type, path, intentKey, resultKey!]) {
      const other = respellText(identifier, 'layer2')
      expect(other).toMatch(/layer2/i)
      expect(respellText(other, 'spark')).toBe(identifier)
    }
})

test('spelling: member names and values that are identifiers are respelled, at any depth', () => {
  expect(
    respell(
      {
        type: 'ACTIVITY_TYPE_SPARK_SIGN_FROST',
        intent: { sparkSignFrostIntent: { signWith: 'a' } },
        result: [{ sparkSignFrostResult: null }, 'ADDRESS_FORMAT_SPARK_MAINNET', 7],
      },
      'layer2',
    ),
  ).toEqual({
    type: 'ACTIVITY_TYPE_LAYER2_SIGN_FROST',
    intent: { layer2SignFrostIntent: { signWith: 'a' } },
    result: [{ layer2SignFrostResult: null }, 'ADDRESS_FORMAT_LAYER2_MAINNET', 7],
  })
})

test('spelling: what a person wrote comes back as it was sent', () => {
  const written = { policyName: 'spark payments', condition: "activity.kind == 'SPARK_SIGN_FROST'", userName: 'layer2' }
  expect(respell(written, 'layer2')).toEqual(written)
  expect(respell(written, 'spark')).toEqual(written)
})
