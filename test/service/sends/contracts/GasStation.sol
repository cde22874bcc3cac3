// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// The calls of tests of sponsored sends: the least that answers as the published gas station and its delegate do.
struct Call {
    address to;
    uint256 value;
    bytes data;
}

/// The code that a delegated account runs: carries out what the account has signed, once and in order.
contract Delegate {
    error BatchSizeInvalid();
    error DeadlineExceeded();
    error ExecutionFailed();
    error InvalidNonce();
    error NotSelf();

    bytes32 private constant DOMAIN =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant EXECUTION =
        keccak256("Execution(uint128 nonce,uint32 deadline,address to,uint256 value,bytes data)");
    bytes32 private constant BATCH = keccak256(
        "BatchExecution(uint128 nonce,uint32 deadline,Call[] calls)Call(address to,uint256 value,bytes data)"
    );
    bytes32 private constant CALL = keccak256("Call(address to,uint256 value,bytes data)");

    bytes32 private constant STATE =
        bytes32((uint256(keccak256("TKGasDelegate.state")) - 1) & ~uint256(0xff));

    receive() external payable {}

    /// EIP-5267: which members the domain has (0x0f, the first four), and what they are.
    function eip712Domain()
        external
        view
        returns (bytes1, string memory, string memory, uint256, address, bytes32, uint256[] memory)
    {
        return (hex"0f", "TKGasDelegate", "1.1", block.chainid, address(this), 0, new uint256[](0));
    }

    function nonce() public view returns (uint128 value) {
        bytes32 slot = STATE;
        assembly {
            value := sload(slot)
        }
    }

    function execute(address to, uint256 value, bytes calldata data) external {
        bytes calldata args = data[85:];
        (uint128 given, uint32 deadline) = limits(data);
        take(keccak256(abi.encode(EXECUTION, given, deadline, to, value, keccak256(args))), data, given, deadline);
        (bool done,) = to.call{value: value}(args);
        // The published one is silent here.
        if (!done) assembly { revert(0, 0) }
    }

    function executeBatch(Call[] calldata calls, bytes calldata data) external {
        if (calls.length == 0 || calls.length > 20) revert BatchSizeInvalid();
        (uint128 given, uint32 deadline) = limits(data);
        bytes32[] memory hashes = new bytes32[](calls.length);
        for (uint256 i; i < calls.length; ++i) {
            hashes[i] = keccak256(abi.encode(CALL, calls[i].to, calls[i].value, keccak256(calls[i].data)));
        }
        take(keccak256(abi.encode(BATCH, given, deadline, keccak256(abi.encodePacked(hashes)))), data, given, deadline);
        for (uint256 i; i < calls.length; ++i) {
            (bool done,) = calls[i].to.call{value: calls[i].value}(calls[i].data);
            if (!done) revert ExecutionFailed();
        }
    }

    function limits(bytes calldata data) private pure returns (uint128, uint32) {
        return (uint128(bytes16(data[65:81])), uint32(bytes4(data[81:85])));
    }

    function take(bytes32 structHash, bytes calldata data, uint128 given, uint32 deadline) private {
        if (block.timestamp > deadline) revert DeadlineExceeded();
        bytes32 domain =
            keccak256(abi.encode(DOMAIN, keccak256("TKGasDelegate"), keccak256("1.1"), block.chainid, address(this)));
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", domain, structHash));
        if (ecrecover(digest, uint8(data[64]), bytes32(data[0:32]), bytes32(data[32:64])) != address(this)) {
            revert NotSelf();
        }
        if (given != nonce()) revert InvalidNonce();
        bytes32 slot = STATE;
        assembly {
            sstore(slot, add(given, 1))
        }
    }
}

/// Passes executions on to accounts that are delegated to the one delegate.
contract Station {
    error NotDelegated();

    address private immutable delegate;

    constructor(address delegate_) {
        delegate = delegate_;
    }

    modifier onlyDelegated(address target) {
        if (!isDelegated(target)) revert NotDelegated();
        _;
    }

    function isDelegated(address target) public view returns (bool) {
        return keccak256(target.code) == keccak256(abi.encodePacked(hex"ef0100", delegate));
    }

    function getNonce(address target) external view onlyDelegated(target) returns (uint128) {
        return Delegate(payable(target)).nonce();
    }

    function execute(address target, address to, uint256 value, bytes calldata data) external onlyDelegated(target) {
        Delegate(payable(target)).execute(to, value, data);
    }

    function executeBatch(address target, Call[] calldata calls, bytes calldata data) external onlyDelegated(target) {
        Delegate(payable(target)).executeBatch(calls, data);
    }
}

/// Keeps the last number that it was given, and by whom; 13 it does not take.
contract Ledger {
    error Unlucky(uint256 number, address from);

    uint256 public number;
    address public from;

    function put(uint256 given) external payable {
        if (given == 13) revert Unlucky(given, msg.sender);
        (number, from) = (given, msg.sender);
    }
}
