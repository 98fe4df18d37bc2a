import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.Receiver;
import org.jgroups.View;
import org.jgroups.protocols.Discovery;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.stack.ProtocolStack;

/** A member of a JGroups cluster, as the module calls it (jgroups.c). Ranks are places in the view: members join one after another. */
public final class Member implements Receiver {
    /** Bytes that wait for the module, at most: then the stack waits, and its flow control holds the senders up. */
    private static final int MOST = 16 << 20;
    /** Bytes before a message: its sender's rank and its length. */
    private static final int HEADING = 8;

    /** What it logs is of no interest unless it fails, which an exception tells. */
    private static final Logger LOG = Logger.getLogger("org.jgroups");

    static {
        LOG.setLevel(Level.OFF);
    }

    private final JChannel channel;
    private final int count;
    /** All members, in the order of their ranks, once they are there. */
    private volatile List<Address> members;
    private volatile boolean gone;
    private ByteBuffer came = room(1 << 16), other = room(1 << 16);

    /** How long a member looks for the first, and how often it does, in milliseconds. */
    private static final int JOINING = 60_000, LOOKING = 250;
    /** How long a member that leaves waits to be let go, in milliseconds: all leave at once. */
    private static final int LEAVING = 100;

    /** Joins a cluster by the protocols of a file that the library brings; missing messages are asked for so often, in milliseconds, where that is not 0. Who is the first looks
     * for no others, for which JGroups takes two seconds: the cluster's name was just drawn. */
    public Member(String protocols, String cluster, int count, int asking, boolean first) throws Exception {
        this.count = count;
        channel = new JChannel(protocols);
        ProtocolStack stack = channel.getProtocolStack();
        GMS membership = stack.findProtocol(GMS.class);
        membership.printLocalAddress(false);
        membership.setLeaveTimeout(LEAVING);
        if (first) {
            membership.setJoinTimeout(1);
        } else {
            // Who hears nothing of the first within JGroups' own two seconds makes a group of itself; joining took up to seven on a busy machine. It looks again and again.
            membership.setJoinTimeout(JOINING);
            stack.<Discovery>findProtocol(Discovery.class).setValue("num_discovery_runs", JOINING / LOOKING);
        }
        if (asking > 0) {
            ((NAKACK2) stack.findProtocol(NAKACK2.class)).setXmitInterval(asking);
            ((UNICAST3) stack.findProtocol(UNICAST3.class)).setXmitInterval(asking);
        }
        channel.setReceiver(this);
        try {
            channel.connect(cluster);
        } catch (Exception e) {
            channel.close();
            throw e;
        }
    }

    private static ByteBuffer room(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
    }

    @Override
    public void viewAccepted(View view) {
        if (members != null) {
            gone |= !members.equals(view.getMembers());
        } else if (view.size() == count) {
            members = view.getMembers();
        }
    }

    @Override
    public void receive(Message message) {
        put(members == null ? -1 : members.indexOf(message.getSrc()), message.getArray(), message.getOffset(), message.getLength());
    }

    private synchronized void put(int from, byte[] of, int offset, int length) {
        try {
            while (came.position() > MOST && !gone) {
                wait(50);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        if (came.remaining() < HEADING + length) {
            ByteBuffer larger = room(Math.max(2 * came.capacity(), came.position() + HEADING + length));
            came = larger.put(came.flip());
        }
        came.putInt(from).putInt(length);
        if (length > 0) {
            came.put(of, offset, length);
        }
        notifyAll();
    }

    /** Whether all members are there: 1; 0 as long as some are missing; -1 once one has left. */
    public int state() {
        return gone ? -1 : members == null ? 0 : 1;
    }

    /** What came, for which it waits at most so many milliseconds: its first `position` bytes are a heading and a message, and so on. Null where nothing did. It may be
     * read until the next call. */
    public synchronized ByteBuffer next(int millis) throws InterruptedException {
        if (came.position() == 0 && millis > 0) {
            wait(millis);
        }
        if (came.position() == 0) {
            return null;
        }
        ByteBuffer full = came;
        came = other.clear();
        other = full;
        notifyAll();
        return full;
    }

    /** How many bytes of it are there, and where they lie. */
    public static int length(ByteBuffer full) {
        return full.position();
    }

    public void cast(byte[] message) throws Exception {
        channel.send(new BytesMessage(null, message));
    }

    public void close() {
        gone = true;
        channel.close();
    }
}
