package pipegauge;

import java.io.IOException;
import java.io.StringReader;
import java.util.Properties;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.Event;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.Receiver;
import org.jgroups.View;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.logging.LogFactory;
import org.jgroups.stack.AddressGenerator;
import org.jgroups.stack.IpAddress;
import org.jgroups.util.UUID;

/** A member of a group, as the module (jgroups.c) knows it: it joins, casts, and hands over what comes. */
public final class Member implements Receiver, AddressGenerator {
    /** Java's own logger, which would be collected. */
    private static final Logger LOGS = Logger.getLogger("");

    static {
        // Standard output is where this process answers whoever started it.
        System.setOut(System.err);
        LogFactory.useJdkLogger(true);
        if (System.getProperty("java.util.logging.config.file") == null)
            LOGS.setLevel(Level.OFF);
        ClassConfigurator.addProtocol(Gathering.ID, Gathering.class);
    }

    /** The module's inbox. */
    private final long inbox;
    private final Properties wanted = new Properties();
    /** The number of the group, and how many members it has: their addresses tell the group and the rank. */
    private final long group, members;
    private volatile JChannel channel;
    private Thread leaving;

    private Member(long inbox, String wanted) throws IOException {
        this.inbox = inbox;
        this.wanted.load(new StringReader(wanted));
        group = Long.parseUnsignedLong(this.wanted.getProperty("group"));
        members = Long.parseLong(this.wanted.getProperty("members"));
    }

    // ---- What the module does with what it is told. ----

    /** A cast of the member of this rank came. */
    private static native void arrived(long inbox, int from, byte[] message, int offset, int length);

    /** The view has so many members. */
    private static native void viewed(long inbox, int members);

    /** The channel is connected: it receives at this port. Or it is not, and why. */
    private static native void joined(long inbox, int port, boolean total, String failure);

    // ---- What the module calls. ----

    /** A member that begins to join. What is wanted of it is lines of NAME=VALUE. */
    static Member begin(long inbox, String wanted) throws Exception {
        Member member = new Member(inbox, wanted);
        daemon("pipegauge-join", member::join);
        return member;
    }

    /** Casts to all members, this one too. It waits where receivers have granted no more. */
    void cast(byte[] message) throws Exception {
        channel.send(new BytesMessage(null, message));
    }

    /** Leaves the group, and waits at most so long until that is done. */
    synchronized void leave(long millis) throws InterruptedException {
        JChannel left = channel;
        if (left == null)
            return;
        if (leaving == null)
            leaving = daemon("pipegauge-leave", left::close);
        if (millis > 0)
            leaving.join(millis);
    }

    /** What was thrown, in a line: the innermost cause says most. */
    static String words(Throwable thrown) {
        while (thrown.getCause() != null && thrown.getCause() != thrown)
            thrown = thrown.getCause();
        String text = thrown.getMessage();
        String kind = thrown.getClass().getSimpleName();
        return (text == null || text.isBlank() ? kind : kind + ": " + text).replaceAll("\\s+", " ");
    }

    // ---- What JGroups calls. ----

    /** An address that tells the rank. */
    @Override
    @SuppressWarnings("deprecation")
    public Address generateAddress() {
        return new UUID(group, Long.parseLong(wanted.getProperty("rank")));
    }

    /** Members are not authenticated: what is no cast of one of them is left out, whoever sent it. */
    @Override
    public void receive(Message message) {
        if (!(message.getSrc() instanceof UUID from) || !isMember(from) || !message.hasArray())
            return;
        byte[] array = message.getArray();
        if (array != null && message.getLength() > 0)
            arrived(inbox, (int) from.getLeastSignificantBits(), array, message.getOffset(), message.getLength());
    }

    private boolean isMember(UUID address) {
        long rank = address.getLeastSignificantBits();
        return address.getMostSignificantBits() == group && rank >= 0 && rank < members;
    }

    @Override
    public void viewAccepted(View view) {
        viewed(inbox, view.size());
    }

    // ---- Joining. ----

    private void join() {
        try {
            Stack stack = new Stack(wanted);
            JChannel connects = new JChannel(stack.configurator());
            channel = connects;
            connects.addAddressGenerator(this).setReceiver(this);
            connects.connect("pipegauge-" + wanted.getProperty("group"));
            IpAddress at = (IpAddress) connects.down(new Event(Event.GET_PHYSICAL_ADDRESS, connects.getAddress()));
            joined(inbox, at.getPort(), stack.isTotal(), null);
        } catch (Throwable thrown) {
            joined(inbox, 0, false, words(thrown));
        }
    }

    private static Thread daemon(String name, Runnable what) {
        Thread thread = new Thread(what, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
