/** Operator: what the operator of a running service may ask it, over a socket of its data folder. */

export type { SeenDeliveries, SeenDelivery, WebhookDesk, WebhookRequest } from './desk.ts'
export {
  FAULT_STATUSES,
  type FaultStatus,
  type Faults,
  type InjectedFault,
  type NewFault,
  type WebhookFault,
} from './faults.ts'
export {
  isShown,
  LANES_WITHIN_MS,
  type LaneDesk,
  type LaneRequest,
  type SeenHeldSend,
  type SeenLane,
  type SeenLanes,
  type SeenNonce,
  shownKeys,
} from './lanes.ts'
export { createOperator, type Operator, type OperatorRequest, type OperatorState, warnOfKept } from './operator.ts'
export { askAboutLanes, askAboutWebhooks, askOperator, listenForOperator } from './socket.ts'
