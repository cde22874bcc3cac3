import { expect, test } from 'vitest'
import { type ActivityType, activities } from '../../src/protocol/index.ts'
import { factsOfActivity } from '../../src/scenarios/index.ts'
import { handlers } from '../../src/service/resources/catalogue.ts'

const intent = {
  ...{ signWith: 'x', signWiths: ['x'], privateKeyId: 'x', from: 'x', walletId: 'x', walletIds: ['x'], address: 'x' },
  ...{ payload: '00', payloads: ['00'], encoding: 'PAYLOAD_ENCODING_HEXADECIMAL' },
  ...{ type: 'TRANSACTION_TYPE_SOLANA', unsignedTransaction: '00', signedTransaction: '00' },
  ...{ to: `0x${'11'.repeat(20)}`, value: '1', caip2: 'eip155:1', calls: [{ to: `0x${'11'.repeat(20)}`, value: '1' }] },
}

test('facts of an activity: wherever the service gives policies more than the intent, they are read from what lives or not known', () => {
  for (const [type, handler] of Object.entries(handlers)) {
    const { intentKey } = activities[type as ActivityType]
    const facts = factsOfActivity(
      { type: type as ActivityType, intent: { [intentKey]: intent } as never },
      { resources: [] },
    )
    // Nothing lives here, so what has to be looked up is not known.
    expect([type, facts]).toEqual([type, 'facts' in handler ? undefined : {}])
  }
})
