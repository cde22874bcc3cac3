export type { Fault, FaultStatus, NewFault } from './faults.ts'
export { createOperator, type Operator, type OperatorRequest, type OperatorState, warnOfKept } from './operator.ts'
export { askOperator, listenForOperator } from './socket.ts'
