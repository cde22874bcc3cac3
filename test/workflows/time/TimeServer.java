import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.temporal.internal.testservice.GRPCServerHelper;
import io.temporal.internal.testservice.TestServicesStarter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** Temporal's test server on loopback alone, which its own main program cannot be told. Prints its port. */
public final class TimeServer {
  public static void main(String[] args) throws Exception {
    TestServicesStarter services = new TestServicesStarter(true, 0);
    InetSocketAddress any = new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0);
    NettyServerBuilder builder = NettyServerBuilder.forAddress(any);
    // Clients ask every few seconds whether it is there, and would be cut off for that.
    builder.permitKeepAliveTime(1, TimeUnit.SECONDS).permitKeepAliveWithoutCalls(true);
    GRPCServerHelper.registerServicesAndHealthChecks(services.getServices(), builder);
    Server server = builder.build().start();
    System.out.println(server.getPort());
    server.awaitTermination();
  }
}
