import java.lang.reflect.Constructor;
import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.EmptyMessage;
import org.jgroups.Message;
import org.jgroups.ObjectMessage;
import org.jgroups.Receiver;
import org.jgroups.util.UUID;

/** Says which messages a member of a group of three hands over to the module, whose part of it is not loaded here. */
public class Strangers {
    private static final long GROUP = 7;

    public static void main(String[] words) throws Exception {
        java.io.PrintStream out = System.out;
        Constructor<?> make = Class.forName("pipegauge.Member").getDeclaredConstructor(long.class, String.class);
        make.setAccessible(true);
        Receiver member = (Receiver) make.newInstance(0L, "rank=0\nmembers=3\ngroup=" + GROUP + "\n");
        Object[][] cases = {
            {"a cast of a member", new BytesMessage(null, new byte[] {1, 2}), of(GROUP, 2)},
            {"its own", new BytesMessage(null, new byte[] {1}), of(GROUP, 0)},
            {"an empty message", new EmptyMessage(), of(GROUP, 2)},
            {"a message without bytes", new BytesMessage(null), of(GROUP, 2)},
            {"a message of no bytes", new BytesMessage(null, new byte[0]), of(GROUP, 2)},
            {"an object", new ObjectMessage(null, "x"), of(GROUP, 1)},
            {"rank 3", new BytesMessage(null, new byte[] {1}), of(GROUP, 3)},
            {"rank -1", new BytesMessage(null, new byte[] {1}), of(GROUP, -1)},
            {"another group", new BytesMessage(null, new byte[] {1}), of(GROUP + 1, 1)},
            {"nobody", new BytesMessage(null, new byte[] {1}), null},
        };
        for (Object[] one : cases) {
            Message message = ((Message) one[1]).setSrc((Address) one[2]);
            String came = "left out";
            try {
                member.receive(message);
            } catch (UnsatisfiedLinkError handedOver) {
                came = "handed over";
            } catch (RuntimeException thrown) {
                came = thrown.toString();
            }
            out.println(one[0] + ": " + came);
        }
    }

    @SuppressWarnings("deprecation")
    private static Address of(long group, long rank) {
        return new UUID(group, rank);
    }
}
