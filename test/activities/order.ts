import type { SendOrder } from '../../activities/index.ts'

/** An order to send a wei, as the plan store keeps it. */
export const orderOf = (reference: string): SendOrder => ({
  reference,
  organization: { name: 'acme', id: '00000000-0000-4000-8000-000000000001', baseUrl: 'http://127.0.0.1:1' },
  type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION',
  parameters: { from: '0x01', caip2: 'eip155:1', to: '0x02', value: '1' },
  from: 'treasury',
  to: 'payroll',
  amount: '1 wei',
  orderedAt: '2026-01-01T00:00:00.000Z',
})
